package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tarelab/tare/record"
)

// stolenFrom is a record in which the hypervisor takes a random share of the CPU time of each window;
// more is what it takes of the container's beyond that.
func stolenFrom(more float64, taken bool) *record.Result {
	w := world{seed: 61, generations: 6, blocks: 12, windowSD: 0.01, light: true, effects: map[string]float64{"container": math.Log(0.95)}}
	r := w.result()
	rng := rand.New(rand.NewPCG(61, 9))
	eachWindow(r, func(b *record.Block, i int) {
		x := &b.Windows[i]
		share := 0.3 * rng.Float64()
		if x.Arm == "container" {
			share += more
		}
		x.Ops = uint64(float64(x.Ops) * (1 - share))
		wanted := 2 * x.Seconds
		x.Probes = map[string]record.Value{"cpu.time": record.Number(0.7 * wanted * (1 - share)), "cpu.foreign": record.Number(0.3 * wanted * (1 - share))}
		if taken {
			x.Probes["cpu.steal"] = record.Number(wanted * share)
		}
	})
	return r
}

// Throughput is compared at the same share of stolen CPU time: the estimate stays, its interval
// becomes narrower. What an arm has stolen beyond the others is its own and stays, too.
func TestAtTheSameSteal(t *testing.T) {
	half := func(x record.Effect) float64 { return math.Log(x.Own.High/x.Own.Low) / 2 }
	raw, at := analysed(t, stolenFrom(0, false)), analysed(t, stolenFrom(0, true))
	x, y := find(raw.Effects, "throughput", "container"), find(at.Effects, "throughput", "container")
	if s := at.Workloads[0].StealSlope; math.Abs(s-1) > 0.05 || raw.Workloads[0].StealSlope != 0 {
		t.Errorf("slope %v, without a count of steal %v", s, raw.Workloads[0].StealSlope)
	}
	if half(y) > half(x)/3 || y.Own.Low > 0.95 || y.Own.High < 0.95 {
		t.Errorf("at the same steal %+v, raw %+v", y.Own, x.Own)
	}
	own := analysed(t, stolenFrom(0.2, true))
	z := find(own.Effects, "throughput", "container")
	if own.Workloads[0].StealSlope != 0 || z.Own.High > 0.9 {
		t.Errorf("an arm that has 20 %% more stolen: slope %v, %+v", own.Workloads[0].StealSlope, z.Own)
	}
}
