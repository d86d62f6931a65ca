package analysis

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// busyNode has two arms, alone and beside a neighbour in a pod. One loses half, the other a
// twentieth, and the neighbour does less beside the latter.
func busyNode() fair {
	return fair{seed: 11, generations: 6, noise: 0.02, workNoise: 0.02, stands: []stand{
		{name: "host", alone: true, rate: 10_000, in: "host"},
		{name: "besteffort", alone: true, rate: 9_000, in: "besteffort"},
		{name: "besteffort-busy", rate: 4_500, work: 1_000, in: "besteffort"},
		{name: "guaranteed", alone: true, rate: 9_500, in: "guaranteed"},
		{name: "guaranteed-busy", rate: 9_000, work: 300, in: "guaranteed"},
	}}
}

// TestClasses: beside a neighbour in a pod every arm is compared with itself alone, and the shares
// of the others are relative to the first arm.
func TestClasses(t *testing.T) {
	r := busyNode().result()
	r.Plan.Workloads[0].Baseline = "host"
	r.Plan.Workloads[0].Neighbours[0].Environment = "besteffort"
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Prices) != 1 {
		t.Fatalf("%d matrices, want 1", len(e.Prices))
	}
	p := e.Prices[0]
	if len(p.Rows) != 2 || p.Unprotected != "besteffort-busy" {
		t.Fatalf("%+v", p)
	}
	for arm, want := range map[string]struct {
		alone, environment string
		ratio, work        float64
	}{
		"besteffort-busy": {"besteffort", "besteffort", 0.5, 1000},
		"guaranteed-busy": {"guaranteed", "guaranteed", 9_000.0 / 9_500, 300},
	} {
		row := rowOf(t, p, arm)
		x := row.Back[0].Alone()
		if row.Alone != want.alone || row.Environment != want.environment {
			t.Errorf("%s: in %s against %s", arm, row.Environment, row.Alone)
		}
		if x == nil || !(x.Low < want.ratio && want.ratio < x.High && x.High-x.Low < 0.1) {
			t.Errorf("%s: %+v, want %v", arm, x, want.ratio)
		}
		if w, ok := row.Work.Get(); !ok || w < 0.9*want.work || w > 1.1*want.work {
			t.Errorf("%s: the neighbour does %v, want %v", arm, row.Work, want.work)
		}
	}
	other := rowOf(t, p, "guaranteed-busy")
	if s := other.Back[0].Share; s == nil || s.Low > 0.9 || s.High < 0.88 || s.Share < 0.8 {
		t.Errorf("regained %+v, want about 0.89", s)
	}
	if k := other.Kept; k == nil || k.Low > 0.3 || k.High < 0.3 || k.High-k.Low > 0.1 {
		t.Errorf("the neighbour keeps %+v, want 0.3", k)
	}
	// On the host the arm differs by a mechanism and is in no group of classes.
	r.Plan.Workloads[0].Neighbours[0] = record.Neighbour{Name: "hogs", Work: record.NeighbourOps, Unit: "1/s"}
	if e, err = Analyse(r); err != nil || len(e.Prices) != 0 {
		t.Errorf("on the host: %d matrices (%v)", len(e.Prices), err)
	}
}
