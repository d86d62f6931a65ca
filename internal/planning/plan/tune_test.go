package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// traces makes what a pilot sees: ticks at a rate with noise sd (of 10 ms), a long trace of the
// first arm and three short ones of every arm. After a thaw the rate of all arms is lower by the
// share common, and that of the last arm by the share deep as well. Both fade within tau.
func traces(seed uint64, arms int, rate, sd, common, deep float64, tau time.Duration) []Trace {
	rng := rand.New(rand.NewPCG(seed, 7))
	trace := func(a, length int) Trace {
		t := Trace{Arm: string(rune('a' + a))}
		for i := range length {
			at := (time.Duration(i)*Tick + Tick/2).Seconds()
			down := common
			if a == arms-1 {
				down += deep
			}
			fade := 1 - down*math.Exp(-at/max(tau.Seconds(), 1e-9))
			t.Ticks = append(t.Ticks, math.Round(rate*Tick.Seconds()*max(0, fade)*math.Exp(math.Sqrt2*sd*rng.NormFloat64())))
		}
		return t
	}
	out := []Trace{trace(0, 400)}
	for range 3 {
		for a := range arms {
			out = append(out, trace(a, 60))
		}
	}
	return out
}

func observed(budget time.Duration, ts []Trace) Observed {
	arms := map[string]bool{}
	for _, t := range ts {
		arms[t.Arm] = true
	}
	return Observed{Traces: ts, Launch: 500 * time.Millisecond, Switch: 2 * time.Millisecond, Budget: budget, Arms: len(arms), Pause: "freezer v2"}
}

// A transient that all arms have cancels. The settle time lasts until a single arm's transient is
// over.
func TestSettleTimeCoversWhatIsAnArmsOwn(t *testing.T) {
	for _, c := range []struct {
		name         string
		common, deep float64
		least, most  time.Duration
	}{
		{"none", 0, 0, 5 * time.Millisecond, 5 * time.Millisecond},
		{"common", 0.5, 0, 5 * time.Millisecond, 5 * time.Millisecond},
		{"own", 0.3, 0.5, 20 * time.Millisecond, 200 * time.Millisecond},
	} {
		l, p := Tune(observed(time.Minute, traces(1, 8, 200000, 0.002, c.common, c.deep, 15*time.Millisecond)), Lengths{})
		if l.Discard < c.least || l.Discard > c.most || l.Window < 2*l.Discard {
			t.Errorf("%s: %+v (%s)", c.name, l, p.Why)
		}
	}
}

// The windows show a transient that the pilot's noise hides.
func TestHalvesShowATransient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	blocks := func(off, sd float64, n int) *Halves {
		h := &Halves{}
		for range n {
			b := &record.Block{}
			for _, arm := range []string{"host", "twin", "same", "own"} {
				w := record.Window{Arm: arm, Seconds: 0.02, FirstSeconds: 0.01}
				first := 1000 * 0.9 * math.Exp(sd*rng.NormFloat64()) // all arms are slow at first
				if arm == "own" {
					first *= math.Exp(off)
				}
				w.First = uint64(first)
				w.Ops = w.First + uint64(1000*math.Exp(sd*rng.NormFloat64()))
				b.Windows = append(b.Windows, w)
			}
			h.Add(b, "host", "twin")
		}
		return h
	}
	if arm, why := blocks(-0.05, 0.05, 100).Uneven(); arm != "own" || !strings.Contains(said.English(why), "windows of own") {
		t.Errorf("%q: %s", arm, why)
	}
	h := blocks(-0.05, 0.05, 100)
	h.Add(&record.Block{Windows: []record.Window{{Arm: "host", Seconds: 0.02, Ops: 9}, {Arm: "own", Seconds: 0.02, Ops: 5}}}, "host", "twin")
	if arm, _ := h.Uneven(); arm != "own" {
		t.Errorf("with a window whose middle is not known: %q", arm)
	}
	wrong := 0
	for range 200 {
		if arm, _ := blocks(0, 0.1, 60).Uneven(); arm != "" {
			wrong++
		}
	}
	if arm, _ := blocks(-0.05, 0.05, 10).Uneven(); wrong > 2 || arm != "" {
		t.Errorf("%d of 200 false alarms; after 10 blocks: %q", wrong, arm)
	}
}

// Slow noise favours short windows. White noise, which longer windows average, leaves the decision
// to the overhead.
func TestNoiseDecidesTheWindow(t *testing.T) {
	white := traces(2, 8, 100000, 0.05, 0, 0, 0)
	slow := traces(2, 8, 100000, 0.002, 0, 0, 0)
	rng := rand.New(rand.NewPCG(5, 5))
	level := 0.0
	for i := range slow[0].Ticks {
		level += 0.03 * rng.NormFloat64()
		slow[0].Ticks[i] *= math.Exp(level)
	}
	long, p := Tune(observed(3*time.Minute, white), Lengths{})
	short, q := Tune(observed(3*time.Minute, slow), Lengths{})
	if long.Window <= short.Window || short.Window != 20*time.Millisecond || len(p.Slots) < 2 || len(q.Slots) < 2 {
		t.Errorf("%v (%s), %v (%s)", long.Window, p.Why, short.Window, q.Why)
	}
	for _, s := range append(p.Slots, q.Slots...) {
		if s.Noise <= 0 || s.Cost <= 0 {
			t.Errorf("slot %+v", s)
		}
	}
}

func TestFixedLengthsAreKept(t *testing.T) {
	ts := traces(3, 4, 1000, 0.1, 0, 0, 0)
	l, p := Tune(observed(time.Minute, ts), Lengths{Window: time.Second, Discard: 30 * time.Millisecond, Generations: 9})
	if l.Window != time.Second || l.Discard != 30*time.Millisecond || l.Generations != 9 || !strings.Contains(said.English(p.Why), "as asked") {
		t.Errorf("%+v: %s", l, p.Why)
	}
	if l, _ = Tune(observed(time.Minute, ts), Lengths{Window: 60 * time.Millisecond}); l.Discard != 10*time.Millisecond {
		t.Errorf("with a window of 60 ms: %+v", l)
	}
}

// No window is shorter than a period of a quota.
func TestShortestWindow(t *testing.T) {
	o := observed(time.Minute, traces(1, 4, 200000, 0.01, 0, 0, 0))
	o.Least = 100 * time.Millisecond
	if l, p := Tune(o, Lengths{}); l.Window < o.Least {
		t.Errorf("%+v: %s", l, p.Why)
	}
}

// Whatever the pilot saw, the plan is possible: at least two blocks, a window, and a run that takes
// no more than its budget and one block.
func TestTuneIsAlwaysPossible(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := observed(
			time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(rt, "budget")),
			traces(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(2, 12).Draw(rt, "arms"),
				rapid.Float64Range(0, 1e6).Draw(rt, "rate"), rapid.Float64Range(0, 1).Draw(rt, "sd"),
				rapid.Float64Range(0, 0.5).Draw(rt, "common"), rapid.Float64Range(0, 0.5).Draw(rt, "deep"),
				time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(rt, "tau"))))
		o.Launch = time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(rt, "launch"))
		o.Stands = rapid.Bool().Draw(rt, "stands")
		l, p := Tune(o, Lengths{})
		if l.Window < slots[0].Window || l.Discard <= 0 || l.Blocks < 2 || l.Generations < 1 || p.Why.IsZero() {
			rt.Fatalf("%+v: %s", l, p.Why)
		}
		block := float64(o.Arms) * (l.Window + l.Discard + o.Switch).Seconds()
		need := float64(l.Generations) * (o.Launch.Seconds() + float64(l.Blocks)*block)
		if need > o.budgetWithLaunch().Seconds()+o.Launch.Seconds()+3*block {
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
	// Each arm is first in 100 of 600 blocks, give or take 4 standard deviations.
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
	o := observed(time.Minute, traces(5, 4, 100000, 0.01, 0, 0, 0))
	l, _ := Tune(o, Lengths{})
	next, ok := Longer(o, l)
	if !ok || next.Window <= l.Window || next.Discard <= l.Discard || next.Blocks < 2 {
		t.Errorf("%+v becomes %+v, %v", l, next, ok)
	}
	o.Budget = time.Second
	if _, ok := Longer(o, l); ok {
		t.Error("a window that has no room was lengthened")
	}
}

// Queries of some 100 ms beside a batch job: every window holds a few of the slowest arm, and the
// budget still has room.
func TestSlowOperations(t *testing.T) {
	slow := func(rate float64, length int) (ticks []float64) {
		for i := range length {
			per := rate * Tick.Seconds()
			ticks = append(ticks, math.Floor(float64(i+1)*per)-math.Floor(float64(i)*per))
		}
		return ticks
	}
	var ts []Trace
	for i := range 8 {
		ts = append(ts, Trace{Arm: fmt.Sprint("beside-", i), Ticks: slow(5, 100)})
	}
	ts = append(ts, Trace{Arm: "alone", Ticks: slow(25, 800)})
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
