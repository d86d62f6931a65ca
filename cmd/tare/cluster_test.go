package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/kube/kubetest"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

const pods = `
budget: 60s
generations: 2
window: 200ms
arms:
  host: {environment: host}
  besteffort: {environment: besteffort}
  burstable: {environment: burstable}
  guaranteed: {environment: "guaranteed:cpu=max,memory=1Gi"}
baseline: host
workloads:
  db:
    kind: sysbench
    params: {tables: 2, size: 1000, threads: 2, redo_log: 16M}
`

// inPods starts a run with a MariaDB on the host and in pods.
func inPods(t *testing.T) (*kubetest.Admin, *database) {
	t.Helper()
	admin := kubetest.Need(t)
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "db.yaml")
	if err := os.WriteFile(file, []byte(pods), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cmd = d.tool("run", file, "-o", d.dir)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.out
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		d.tool("cleanup").Run()
	})
	return admin, d
}

// A MariaDB is measured on the host and in a pod of every class; what made the
// pods is in the result, and nothing is left.
func TestClusterRun(t *testing.T) {
	admin, d := inPods(t)
	r := d.end(0)
	for _, l := range r.Manifest.Left {
		t.Errorf("left out: %+v", l)
	}
	windows := map[string]int{}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			windows[w.Arm]++
		}
	}
	for _, arm := range []string{"host", "twin", "besteffort", "burstable", "guaranteed"} {
		if windows[arm] == 0 {
			t.Errorf("no window of %s: %v", arm, windows)
		}
		if arm == "host" || arm == "twin" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(d.dir, record.ByHandDir, "db-"+arm+".yaml"))
		if err != nil || !strings.Contains(string(b), "kind: Pod") {
			t.Errorf("%v: %s", err, b)
		}
	}
	for _, s := range r.Manifest.Settings["db/guaranteed"] {
		if s.Name == "pod.cpu.max" {
			t.Log(s.Got)
		}
	}
	for _, left := range admin.Left(t) {
		t.Errorf("left: %s", left)
	}
	t.Log(d.out.String())
}

// After SIGKILL and cleanup nothing is left in the cluster or on the node.
func TestClusterKilled(t *testing.T) {
	admin, d := inPods(t)
	d.measuring()
	id := runID(d.dir)
	d.cmd.Process.Kill()
	d.cmd.Wait()
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	for _, left := range append(leftOf(id), admin.Left(t)...) {
		t.Errorf("left: %s", left)
	}
}
