package analysis

import (
	"math"
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

// A level never contradicts its effect. Here half of the container's windows are missing, those of the slow half of the
// run, so that its mean is above the host's although it loses.
func TestLevelsAgreeWithEffects(t *testing.T) {
	r := world{seed: 5, generations: 6, blocks: 8, effects: map[string]float64{"container": -0.03}, windowSD: 0.01}.result()
	for _, l := range r.Lines {
		if l.Block == nil || l.Block.Generation < 3 {
			continue
		}
		for i := range l.Block.Windows {
			w := &l.Block.Windows[i]
			w.Ops /= 2
		}
		if l.Block.Number%2 == 0 {
			l.Block.Windows = slices.DeleteFunc(l.Block.Windows, func(w record.Window) bool { return w.Arm == "container" })
		}
	}
	e, err := Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]map[string]record.Value{}
	for _, a := range e.Arms {
		levels[a.Arm] = a.Values
	}
	for _, x := range slices.Concat(e.Effects, e.Twin) {
		level, known := levels[x.Arm][x.Metric].Get()
		base, too := levels[x.Baseline][x.Metric].Get()
		if x.Typical == nil || !known || !too {
			continue
		}
		if got := level / base; math.Abs(got-x.Typical.Ratio) > 1e-9 {
			t.Errorf("%s of %s: levels say %+.4f, the effect %+.4f", x.Metric, x.Arm, got-1, x.Typical.Ratio-1)
		}
	}
	if x := find(e.Effects, "throughput", "container"); x.Typical == nil || x.Typical.Ratio > 0.99 {
		t.Errorf("the plant is not in the record: %+v", x.Typical)
	}
}
