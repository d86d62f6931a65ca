package analysis

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// TestDetail: charts show every window once.
func TestDetail(t *testing.T) {
	w := world{seed: 7, generations: 2, blocks: 6, windowSD: 0.02, effects: map[string]float64{"rootfs": -0.1}}
	r := w.result()
	for _, l := range r.Lines {
		if l.Block != nil && l.Block.Generation == 1 && l.Block.Number == 2 {
			for i := range l.Block.Windows {
				l.Block.Windows[i].Dropped = record.DropIsolation
			}
		}
	}
	d, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Series) != len(armNames) {
		t.Fatalf("%d series of %d arms", len(d.Series), len(armNames))
	}
	for i, s := range d.Series {
		if s.Arm != armNames[i] || len(s.Points) != 12 || s.Metric != "throughput" || s.Unit != "1/s" {
			t.Fatalf("series %d: %s with %d points of %s in %s", i, s.Arm, len(s.Points), s.Metric, s.Unit)
		}
		counted := 0
		for j, p := range s.Points {
			if j > 0 && p.At <= s.Points[j-1].At {
				t.Fatalf("%s: point %d is not later than the one before", s.Arm, j)
			}
			if (p.Dropped != "") != (p.Generation == 1 && p.Block == 2) {
				t.Fatalf("%s: block %d of launch %d dropped: %q", s.Arm, p.Block, p.Generation, p.Dropped)
			}
			if p.Dropped == "" {
				counted++
			}
		}
		if counted != 11 {
			t.Errorf("%s: %d windows count", s.Arm, counted)
		}
	}
}

// TestDetailOfNothing: a plan without measurements has empty charts.
func TestDetailOfNothing(t *testing.T) {
	r := world{seed: 1}.result()
	if d, err := analyseWith(r, 0); err != nil || len(d.Series) != 0 {
		t.Errorf("pictures of nothing: %+v", d)
	}
}
