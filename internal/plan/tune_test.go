package plan

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// traces makes what a pilot sees: ticks of 10 ms at a rate with noise sd, and
// a transient that starts at the share deep below the rate and fades within tau.
func traces(seed uint64, arms int, rate, sd, deep float64, tau time.Duration) []Trace {
	rng := rand.New(rand.NewPCG(seed, 7))
	var out []Trace
	for a := range arms {
		length := 50
		if a == 0 {
			length = 400
		}
		t := Trace{Arm: string(rune('a' + a))}
		for i := range length {
			at := time.Duration(i) * Tick
			fade := 1 - deep*math.Exp(-at.Seconds()/max(tau.Seconds(), 1e-9))
			t.Ticks = append(t.Ticks, math.Round(rate/100*fade*math.Exp(sd*rng.NormFloat64())))
		}
		out = append(out, t)
	}
	return out
}

func observed(budget time.Duration, ts []Trace) Observed {
	return Observed{Traces: ts, Launch: 500 * time.Millisecond, Switch: 2 * time.Millisecond, Budget: budget, Arms: len(ts), Pause: "freezer v2"}
}

func TestDiscardCoversTheTransient(t *testing.T) {
	none, _ := Tune(observed(time.Minute, traces(1, 8, 10000, 0.02, 0, 0)), Lengths{})
	slow, p := Tune(observed(time.Minute, traces(1, 8, 10000, 0.02, 0.5, 40*time.Millisecond)), Lengths{})
	if none.Discard > 20*time.Millisecond {
		t.Errorf("without a transient %v is discarded", none.Discard)
	}
	if slow.Discard < 50*time.Millisecond || slow.Discard > 200*time.Millisecond {
		t.Errorf("a transient of 40 ms: %v discarded (%s)", slow.Discard, p.Why)
	}
}

func TestNoiseDecidesTheWindow(t *testing.T) {
	// White noise of single ticks: a longer window averages it, and its cost is
	// the overhead alone.
	_, p := Tune(observed(3*time.Minute, traces(2, 8, 10000, 0.3, 0, 0)), Lengths{})
	if len(p.Slots) < 2 {
		t.Fatalf("slots %+v: %s", p.Slots, p.Why)
	}
	for _, s := range p.Slots {
		if s.Noise <= 0 || s.Cost <= 0 {
			t.Errorf("slot %+v", s)
		}
	}
	if !strings.Contains(p.Why, "windows reach a width soonest") {
		t.Errorf("why: %s", p.Why)
	}
}

func TestFixedLengthsAreKept(t *testing.T) {
	l, p := Tune(observed(time.Minute, traces(3, 4, 1000, 0.1, 0, 0)), Lengths{Window: time.Second, Discard: 30 * time.Millisecond, Generations: 9})
	if l.Window != time.Second || l.Discard != 30*time.Millisecond || l.Generations != 9 || !strings.Contains(p.Why, "as asked") {
		t.Errorf("%+v: %s", l, p.Why)
	}
}

// Whatever the pilot saw, the plan is possible: at least two blocks, a window,
// and a run that does not need more than its budget and one block.
func TestTuneIsAlwaysPossible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := observed(
			time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(rt, "budget")),
			traces(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(2, 12).Draw(rt, "arms"),
				rapid.Float64Range(0, 1e6).Draw(rt, "rate"), rapid.Float64Range(0, 1).Draw(rt, "sd"),
				rapid.Float64Range(0, 1).Draw(rt, "deep"), time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(rt, "tau"))))
		o.Launch = time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(rt, "launch"))
		l, p := Tune(o, Lengths{})
		if l.Window < windows[0] || l.Discard <= 0 || l.Blocks < 2 || l.Generations < 1 || p.Why == "" {
			rt.Fatalf("%+v: %s", l, p.Why)
		}
		block := float64(o.Arms) * (l.Window + l.Discard + o.Switch).Seconds()
		need := float64(l.Generations) * (o.Launch.Seconds() + float64(l.Blocks)*block)
		if need > o.Budget.Seconds()+o.Launch.Seconds()+3*block {
			rt.Fatalf("%+v needs %.1f s of %.1f s", l, need, o.Budget.Seconds())
		}
	})
}

func TestOrderIsAPermutationOfItsOwn(t *testing.T) {
	same := 0
	first := make([]int, 6)
	for b := range 600 {
		p := Order(42, "oltp", 1, b, 6)
		seen := map[int]bool{}
		for _, i := range p {
			seen[i] = true
		}
		if len(p) != 6 || len(seen) != 6 {
			t.Fatalf("block %d: %v", b, p)
		}
		first[p[0]]++
		if q := Order(42, "oltp", 1, b, 6); q[0] != p[0] || q[5] != p[5] {
			t.Fatalf("the same seed gives %v and %v", p, q)
		}
		if q := Order(43, "oltp", 1, b, 6); q[0] == p[0] {
			same++
		}
	}
	// Each arm leads 100 of 600 blocks, give or take 4 standard deviations.
	for arm, n := range first {
		if n < 63 || n > 137 {
			t.Errorf("arm %d leads %d of 600 blocks", arm, n)
		}
	}
	if same > 160 {
		t.Errorf("another seed agrees in the first arm of %d of 600 blocks", same)
	}
}

func TestLongerFitsOrSaysNo(t *testing.T) {
	o := observed(time.Minute, traces(5, 4, 10000, 0.1, 0, 0))
	l, _ := Tune(o, Lengths{})
	next, ok := Longer(o, l)
	if !ok || next.Window != 2*l.Window {
		t.Errorf("%+v becomes %+v, %v", l, next, ok)
	}
	o.Budget = 2 * time.Second
	if _, ok := Longer(o, l); ok {
		t.Error("a window that has no room was lengthened")
	}
}

// Queries of some 100 ms beside a batch job: every window holds a few of the
// slowest arm, or its block would be dropped, and the budget still has room.
func TestSlowOperations(t *testing.T) {
	slow := func(rate float64, length int) (ticks []float64) {
		for i := range length {
			ticks = append(ticks, math.Floor(float64(i+1)*rate/100)-math.Floor(float64(i)*rate/100))
		}
		return ticks
	}
	var ts []Trace
	for range 8 {
		ts = append(ts, Trace{Arm: "beside", Ticks: slow(5, 50)})
	}
	ts = append(ts, Trace{Arm: "alone", Ticks: slow(25, 400)})
	for budget, want := range map[time.Duration][2]time.Duration{
		3 * time.Minute:  {time.Second, 2 * time.Second},
		8 * time.Minute:  {time.Second, 2 * time.Second},
		30 * time.Second: {100 * time.Millisecond, 500 * time.Millisecond},
	} {
		o := observed(budget, ts)
		o.Launch, o.Switch = 11*time.Second, 500*time.Millisecond
		l, p := Tune(o, Lengths{})
		if l.Window < want[0] || l.Window > want[1] || l.Blocks < 2 {
			t.Errorf("%v: %+v (%s)", budget, l, p.Why)
		}
		if cost := time.Duration(l.Blocks*len(ts)) * (l.Window + l.Discard + o.Switch); budget > time.Minute && o.Launch+cost > budget {
			t.Errorf("%v: one launch takes %v", budget, o.Launch+cost)
		}
	}
}
