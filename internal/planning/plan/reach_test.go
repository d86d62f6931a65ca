package plan

import (
	"math"
	"testing"

	"github.com/tarelab/tare/record"
)

// reaching is a plan of a load with so many arms that has the whole budget.
func reaching(arms int, budget float64) *Plan {
	return &Plan{
		Record: record.Plan{Budget: budget},
		Loads:  []Load{{Workload: record.Workload{Name: "a", Budget: budget}, Arms: make([]PlannedArm, arms)}},
	}
}

// reached makes a load known whose arms had intervals of these half-widths after so many seconds each.
func reached(p *Plan, narrow, wide, seconds float64) *Plan {
	p.Loads[0].Known = &record.Known{Begin: 2, Launch: 1, Slot: 0.1, Narrowest: narrow, Widest: wide, Seconds: seconds}
	return p
}

// Half-widths shrink with the root of the time, and grow with the root of the number of arms.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		arms      int
		budget    float64
		low, high float64 // powers of two in percent, halved and doubled
	}{{4, 42, 0.005, 0.08}, {4, 162, 0.0025, 0.04}, {4, 642, 0.00125, 0.02}, {16, 642, 0.0025, 0.04}} {
		p := reached(reaching(c.arms, c.budget), 0.01, 0.04, 10)
		if b, ok := p.Expect(); !ok || b != (Bracket{c.low, c.high}) {
			t.Errorf("%d arms, %v s: %+v", c.arms, c.budget, b)
		}
	}
}

// The bracket has the half-widths that earlier runs had in the same time with room on both sides, whatever they were.
func TestExpectHoldsWhatWasSeen(t *testing.T) {
	for half := 0.0005; half < 2; half *= 1.1 {
		p := reached(reaching(5, 52), half, 3*half, 10)
		if b, ok := p.Expect(); !ok || !(b.Low <= half/1.41 && 3*half*1.41 <= b.High) || b.High > 6*b.Low*3*1.42 {
			t.Errorf("±%v: %+v", half, b)
		}
	}
}

// Without an earlier run of every load there is no bracket.
func TestExpectNothing(t *testing.T) {
	p := reached(reaching(3, 100), 0.01, 0.02, 10)
	p.Loads = append(p.Loads, Load{Workload: record.Workload{Name: "b", Budget: 50}, Arms: make([]PlannedArm, 3)})
	if b, ok := p.Expect(); ok {
		t.Errorf("of a load nothing is known: %+v", b)
	}
	p.Loads[1].Known = &record.Known{Begin: 2, Launch: 1, Slot: 0.1}
	if b, ok := p.Expect(); ok {
		t.Errorf("of a load no width is known: %+v", b)
	}
}

// In the time of TimeFor the widest interval is as narrow as was asked.
func TestTimeFor(t *testing.T) {
	for _, half := range []float64{0.04, 0.02, 0.001} {
		p := reached(reaching(5, 52), 0.01, 0.04, 10)
		s := p.TimeFor(half)
		k := p.Loads[0].Known
		if got := k.Widest * math.Sqrt(k.Seconds*5/(s-k.Begin)); math.Abs(got/half-1) > 1e-9 {
			t.Errorf("±%v in %v s: ±%v", half, s, got)
		}
	}
	if s := reached(reaching(5, 52), 0.01, 0.04, 10).TimeFor(1e-6); !math.IsInf(s, 1) {
		t.Errorf("a millionth in %v s", s)
	}
}

// A p99 needs 4000 operations in all windows of an arm. In the budget that is named the slowest arm has as many.
func TestTails(t *testing.T) {
	p := reached(reaching(5, 102), 0.01, 0.04, 10)
	l := &p.Loads[0]
	if all := p.Tails(); len(all) != 0 {
		t.Errorf("a load without p99: %+v", all)
	}
	l.Metrics = []string{"throughput", "p99"}
	if all := p.Tails(); len(all) != 1 || all[0] != (Tail{Load: "a"}) {
		t.Errorf("nothing is known: %+v", all)
	}
	l.Known.Operations, l.Known.Windows = 20, 0.5 // 2000 operations in 50 windows
	got := p.Tails()[0]
	if want := (Tail{Load: "a", Operations: 2000, PerWindow: 40, Needed: 80, Budget: 202}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.Record.Budget, l.Budget = got.Budget, got.Budget
	if more := p.Tails()[0]; more.Operations != TailOperations || more.Needed != more.PerWindow {
		t.Errorf("with the budget that was named: %+v", more)
	}
}
