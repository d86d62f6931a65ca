package analysis

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

// Layers that were not measured, because the question was not shown when their turn came, are no arms of the result but a
// list of names; the container is compared as before, at 95.5 %. With windows, or after a failure, an arm stays.
func TestLayersThatWereNotAsked(t *testing.T) {
	layers := []string{"cgroup", "namespaces", "rootfs"}
	made := func(without []string, gated bool) *record.Result {
		r := questioned(41, -0.05)
		r.Plan.Workloads[0].LayersOnLoss = gated
		for _, l := range r.Lines {
			if l.Block != nil {
				l.Block.Windows = slices.DeleteFunc(l.Block.Windows, func(w record.Window) bool { return slices.Contains(without, w.Arm) })
			}
		}
		return r
	}
	e, same := analysed(t, made(layers, true)), analysed(t, made(layers, false))
	if got := e.Workloads[0].NotAsked; !reflect.DeepEqual(got, layers) {
		t.Fatalf("not asked are %v", got)
	}
	for _, a := range e.Arms {
		if slices.Contains(layers, a.Arm) {
			t.Errorf("%s is an arm of the result", a.Arm)
		}
	}
	for _, x := range slices.Concat(e.Effects, e.Steps, e.Options) {
		if slices.Contains(layers, x.Arm) || slices.Contains(layers, x.Baseline) {
			t.Errorf("%s against %s is an effect", x.Arm, x.Baseline)
		}
	}
	if x := find(e.Remainder, "throughput", "container"); x.Baseline != "host" || !x.Verdict.Worse() {
		t.Errorf("the container is %v against %s", x.Verdict, x.Baseline)
	}
	gated, all := find(e.Effects, "throughput", "container").Typical, find(same.Effects, "throughput", "container").Typical
	if gated.Ratio != all.Ratio || !(halfOf95(gated) > halfOf95(all)) || halfOf95(gated) > 1.1*halfOf95(all) {
		t.Errorf("%+v, and %+v where all arms were asked", gated, all)
	}
	if e := analysed(t, made([]string{"cgroup", "namespaces"}, true)); len(e.Workloads[0].NotAsked) != 2 || find(e.Steps, "throughput", "rootfs").Baseline != "host" {
		t.Errorf("with rootfs not asked are %v, steps %+v", e.Workloads[0].NotAsked, find(e.Steps, "throughput", "rootfs"))
	}
	failed := made(layers, true)
	failed.Lines = append([]record.Line{failed.Lines[0], {Generation: &record.Generation{Workload: "oltp", Left: []record.Left{{Arm: "cgroup", Reason: record.InProse("no cgroup")}}}}}, failed.Lines[1:]...)
	if got := analysed(t, failed).Workloads[0].NotAsked; slices.Contains(got, "cgroup") || len(got) != 2 {
		t.Errorf("cgroup failed, and not asked are %v", got)
	}
}

// From eight launches and a hundred blocks on the question is estimated with its own arms: whatever the layers do, it stays.
func TestTheQuestionRestsOnItsOwnArms(t *testing.T) {
	made := func(generations int, cgroup float64) *record.Ratio {
		w := world{seed: 42, generations: generations, blocks: 16, launchSD: 0.01, windowSD: 0.02, light: true, effects: map[string]float64{"container": -0.03}}
		r := w.result()
		r.Plan.Workloads[0].Question = "container"
		eachWindow(r, func(b *record.Block, i int) {
			if x := &b.Windows[i]; x.Arm == "cgroup" && b.Generation%2 == 0 {
				x.Ops = uint64(float64(x.Ops) * (1 - cgroup))
			}
		})
		return find(analysed(t, r).Effects, "throughput", "container").Typical
	}
	if a, b := made(8, 0), made(8, 0.4); !reflect.DeepEqual(a, b) {
		t.Errorf("a layer whose launches differ moves the question from %+v to %+v", a, b)
	}
	if a, b := made(5, 0), made(5, 0.4); reflect.DeepEqual(a, b) {
		t.Errorf("with five launches the question rests on its own arms: %+v", a)
	}
}
