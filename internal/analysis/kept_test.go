package analysis

import (
	"reflect"
	"testing"

	"github.com/tarelab/tare/record"
)

// Running gives the same result for lines reduced by Kept, for any primary metric.
func TestKept(t *testing.T) {
	w := quiet(11)
	w.opaque = 0.2
	for _, primary := range []string{"throughput", "p99", "cpu_per_op", "wait"} {
		r := w.result()
		if primary == "wait" {
			r = saying(r, func(w *record.Window) record.Value { return record.Number(10 / w.Rate()) })
		} else {
			r.Plan.Workloads[0].Primary = primary
		}
		load := r.Plan.Workloads[0]
		var kept []record.Line
		probes := 0
		for _, l := range r.Lines {
			k := Kept(load, l)
			if k.Block != nil {
				for i := range k.Block.Windows {
					probes = max(probes, len(k.Block.Windows[i].Probes))
				}
			}
			kept = append(kept, k)
		}
		want := Running(&record.Plan{Precision: 0.01}, 0, load, r.Lines)
		if got := Running(&record.Plan{Precision: 0.01}, 0, load, kept); !reflect.DeepEqual(got, want) || len(want.Arms) == 0 {
			t.Errorf("%s: %+v, want %+v", primary, got, want)
		}
		if probes > 1 {
			t.Errorf("%s: %d probes are kept of a window", primary, probes)
		}
	}
}
