package analysis

import (
	"math"
	"testing"

	"github.com/tarelab/tare/record"
)

// TestDetail: charts show every window and every operation once.
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
	d, err := Detail(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Series) != len(armNames) || len(d.Latency) != len(armNames) {
		t.Fatalf("%d series and %d distributions of %d arms", len(d.Series), len(d.Latency), len(armNames))
	}
	for i, s := range d.Series {
		if s.Arm != armNames[i] || len(s.Points) != 12 || s.Metric != "throughput" || s.Unit != "1/s" {
			t.Fatalf("series %d: %s with %d points of %s in %s", i, s.Arm, len(s.Points), s.Metric, s.Unit)
		}
		counted, n := 0, 0
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
		for _, c := range s.Spread {
			n += c
		}
		if n != counted || n != 11 {
			t.Errorf("%s: the spread counts %d of %d windows", s.Arm, n, counted)
		}
	}
	for _, l := range d.Latency {
		sum := 0.0
		for _, x := range l.Shares {
			sum += x
		}
		if math.Abs(sum-1) > 1e-9 || l.Operations != 22000 {
			t.Errorf("%s: the shares of %d operations sum to %v", l.Arm, l.Operations, sum)
		}
		last := 0.0
		for _, q := range l.Quantiles {
			x, ok := q.Value.Get()
			if want := float64(l.Operations)*(1-q.Q) >= tail; ok != want || ok && x <= last {
				t.Errorf("%s: p%g is %v", l.Arm, 100*q.Q, q.Value)
			}
			last = x
		}
	}
}

// TestDetailOfNothing: a plan without measurements has empty charts.
func TestDetailOfNothing(t *testing.T) {
	r := world{seed: 1}.result()
	if d, err := Detail(r); err != nil || len(d.Series) != 0 || len(d.Latency) != 0 {
		t.Errorf("pictures of nothing: %+v", d)
	}
}
