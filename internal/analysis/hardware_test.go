package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Where the CPU counts instructions, they are a metric per operation; elsewhere the metric is
// absent.
func TestInstructionsPerOperation(t *testing.T) {
	w := quiet(41)
	w.blocks, w.light = 12, true
	r := w.result()
	of := func(r *record.Result) []record.Effect {
		return slices.DeleteFunc(analysed(t, r).Effects, func(e record.Effect) bool { return e.Metric != metric.InstructionsPerOp.Name })
	}
	if none := of(r); len(none) != 0 {
		t.Errorf("a host without counters: %+v", none)
	}
	rng := rand.New(rand.NewPCG(41, 1))
	eachWindow(r, func(b *record.Block, i int) {
		x := &b.Windows[i]
		each := 5000 * math.Exp(0.002*rng.NormFloat64())
		if x.Arm == "container" {
			each *= 1.07
		}
		x.Probes["cpu.instructions"] = record.Number(each * float64(x.Ops))
	})
	e := find(of(r), metric.InstructionsPerOp.Name, "container")
	if e.Typical == nil || math.Abs(e.Typical.Ratio-1.07) > 0.002 || metric.InstructionsPerOp.Better != -1 {
		t.Errorf("%+v %+v", e, e.Typical)
	}
}
