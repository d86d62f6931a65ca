package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

const pods = `
budget: 50s
generations: 2
window: 200ms
neighbours:
  batch: {kind: spin, params: {threads: 2}, environment: besteffort, memory: 64MiB}
arms:
  host: {environment: host}
  besteffort: {environment: besteffort}
  besteffort-busy: {environment: besteffort, neighbour: batch}
  client: {environment: "besteffort:client=pod"}
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
	return admin, runOf(t, pods)
}

// runOf starts a run of an experiment with MariaDB.
func runOf(t *testing.T, experiment string) *database {
	t.Helper()
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "db.yaml")
	if err := os.WriteFile(file, []byte(experiment), 0o600); err != nil {
		t.Fatal(err)
	}
	return d.begin("run", file, "-o", d.dir)
}

// A MariaDB is measured on the host and in a pod of every QoS class. The result has what made the
// pods, and nothing is left.
func TestClusterRun(t *testing.T) {
	admin, d := inPods(t)
	r := d.end(0)
	for _, l := range r.Manifest.Left {
		t.Errorf("left out: %+v", l)
	}
	windows := windowsOf(r)
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
	busyAndClient(t, d, r, windows)
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

// busyAndClient: the batch pod worked beside its arm, and the client was where it was to be. Both
// are in the manifests.
func busyAndClient(t *testing.T, d *database, r *record.Result, windows map[string]int) {
	t.Helper()
	did := 0.0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Dropped != "" {
				continue
			}
			x, ok := w.Neighbour[record.NeighbourOps].Get()
			if ok != (w.Arm == "besteffort-busy") {
				t.Errorf("%s: the neighbour's work is %v", w.Arm, w.Neighbour)
			}
			did += x
		}
	}
	if did == 0 || windows["client"] == 0 {
		t.Errorf("the neighbour did %v; %v", did, windows)
	}
	for arm, want := range map[string]string{"client": "in pod client.client", "besteffort": "in no pod", "host": "on the host"} {
		got := ""
		for _, s := range r.Manifest.Settings["db/"+arm] {
			if s.Name == "client" {
				got = s.Got
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("the client of %s: %q, want %q", arm, got, want)
		}
	}
	for name, want := range map[string]string{"besteffort.neighbour": "app.kubernetes.io/component: neighbour", "client": "app.kubernetes.io/component: client"} {
		b, err := os.ReadFile(filepath.Join(d.dir, record.ByHandDir, "db-"+name+".yaml"))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%v: no %s in %s", err, want, b)
		}
	}
}

// windowsOf counts the windows of each arm.
func windowsOf(r *record.Result) map[string]int {
	windows := map[string]int{}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			windows[w.Arm]++
		}
	}
	return windows
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
