package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/record"
)

const factors = `
budget: 30s
generations: 1
window: 200ms
arms:
  host: {environment: host}
  service: {environment: "besteffort:network=service"}
  directory: {environment: "besteffort:volume=hostpath"}
  claim: {environment: "burstable:volume=pvc:CLASS"}
  own: {environment: "guaranteed:cpu=integer,memory=1Gi"}
baseline: host
workloads:
  db:
    kind: sysbench
    params: {tables: 2, size: 1000, threads: 2, redo_log: 16M}
`

// A MariaDB is measured in pods with each kind of network, volume and CPU manager. The result says
// what they are, and nothing is left.
func TestClusterFactors(t *testing.T) {
	admin := kubetest.Need(t)
	class, dir := admin.LocalClass(t, 2)
	d := runOf(t, strings.ReplaceAll(factors, "CLASS", class))
	r := d.end(0)
	for _, l := range r.Manifest.Left {
		t.Errorf("left out: %+v", l)
	}
	windows := windowsOf(r)
	for arm, want := range map[string][]string{
		"service":   {"network.leads", "network.service"},
		"directory": {"pod.volume"},
		"claim":     {"pod.volume.persistent", "pod.volume.capacity"},
		"own":       {"pod.cpu.manager", "pod.cpu.exclusive"},
	} {
		if windows[arm] == 0 {
			t.Errorf("no window of %s: %v", arm, windows)
		}
		got := map[string]string{}
		for _, s := range r.Manifest.Settings["db/"+arm] {
			got[s.Name] = s.Got
		}
		for _, name := range want {
			if got[name] == "" {
				t.Errorf("%s: no %s in %v", arm, name, got)
			}
			t.Log(arm, name, got[name])
		}
		t.Log(arm, "is on", got["volume.fs"], got["volume.source"])
	}
	b, err := os.ReadFile(filepath.Join(d.dir, record.ByHandDir, "db-service.yaml"))
	if err != nil || !strings.Contains(string(b), "kind: Service") {
		t.Errorf("%v: %s", err, b)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Error(err)
	}
	for _, l := range append(admin.Left(t), left...) {
		t.Errorf("left: %s", l)
	}
	t.Log(d.out.String())
}

// After SIGKILL and cleanup nothing is left on a claim's volume, which outlives the claim.
func TestClusterClaimKilled(t *testing.T) {
	admin := kubetest.Need(t)
	class, dir := admin.LocalClass(t, 1)
	d := runOf(t, `
budget: 60s
generations: 1
arms:
  host: {environment: host}
  claim: {environment: "burstable:volume=pvc:`+class+`,network=service"}
baseline: host
workloads:
  db:
    kind: sysbench
    params: {tables: 1, size: 1000, threads: 1, redo_log: 16M}
`)
	d.measuring()
	id := runID(d.dir)
	if on, _ := filepath.Glob(filepath.Join(dir, "*", "tare-"+id+"-*")); len(on) != 1 {
		t.Errorf("the data is in %v", on)
	}
	d.cmd.Process.Kill()
	d.cmd.Wait()
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	for _, l := range append(append(leftOf(id), admin.Left(t)...), left...) {
		t.Errorf("left: %s", l)
	}
}
