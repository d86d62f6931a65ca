package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// farLoads are loads of every kind that costs little, alone and beside a neighbour.
const farLoads = `
budget: 60s
generations: 1
window: 200ms
neighbours:
  batch: {kind: command, params: {command: "sh -c 'while :; do :; done'"}, environment: besteffort}
arms:
  pod: {environment: "guaranteed:cpu=300m,memory=256Mi"}
  busy: {environment: "guaranteed:cpu=300m,memory=256Mi", neighbour: batch}
baseline: pod
workloads:
  commits: {kind: commit, params: {size: 1KiB, threads: 1}}
  files: {kind: fio, params: {size: 4MiB, rw: randread, iodepth: 1}}
  echo: {kind: command, params: {command: "sh -c :"}}
`

// TestClusterFarLoads: agents in pods count the operations of loads of every kind, and try in the
// pod what an arm keeps of what it commits, also beside a neighbour in another pod.
func TestClusterFarLoads(t *testing.T) {
	admin := kubetest.Need(t)
	testneed.Tool(t, "fio")
	shell(t, "fio")
	firstPod(t)
	before := environmenttest.TakeSnapshot(t)
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "loads.yaml")
	if err := os.WriteFile(file, []byte(farLoads), 0o600); err != nil {
		t.Fatal(err)
	}
	r := d.begin("run", file, "-o", d.dir, "--nodes", admin.Here(t), "--pod-image", farImage).end(0)
	windows, work := map[string]int{}, map[string]float64{}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Dropped != "" {
				t.Log(w.Arm, w.Dropped, w.Detail)
				continue
			}
			windows[l.Block.Workload+"/"+w.Arm]++
			if x, ok := w.Neighbour[record.NeighbourCPU].Get(); ok {
				work[w.Arm] += x
			}
		}
	}
	for _, load := range []string{"commits", "files", "echo"} {
		for _, arm := range []string{"pod", "busy"} {
			if windows[load+"/"+arm] == 0 {
				t.Errorf("no window of %s in %s: %v\n%s", load, arm, windows, d.out.String())
			}
		}
	}
	if work["busy"] <= 0 || work["pod"] != 0 {
		t.Errorf("what the neighbour did: %v", work)
	}
	busy := settingsIn(r, "commits/busy")
	for name, want := range map[string]string{
		"neighbour.kube.tare": "SIGSTOP", "neighbour.pod.qos": "BestEffort", "durability": "", "durability.sync_median": " s",
	} {
		if got := busy[name]; got == "" || !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, l := range r.Manifest.Left {
		t.Errorf("left out: %+v", l)
	}
	admin.AwaitNone(t)
	before.MustEqual(t, runID(d.dir))
}
