package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Tick is the sampling interval of the pilot's traces.
const Tick = 10 * time.Millisecond

// Generations that a run wants at least: fewer leave the launch effect with
// too few degrees of freedom. Blocks per generation stay between the bounds.
const (
	wantGenerations = 7
	minGenerations  = 5
	minBlocks       = 3
	maxBlocks       = 40
)

// launchSD is the launch effect that is assumed until a run has measured it
// (method, section 0: 0.3 to 1.5 % were seen).
const launchSD = 0.007

// The lengths that the pilot chooses from.
var (
	windows  = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	discards = []time.Duration{20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond}
)

// Trace is what the pilot saw of one arm after one thaw: operations counted in
// each Tick, the first tick right after the thaw.
type Trace struct {
	Arm   string
	Ticks []float64
}

// Observed is all that the pilot saw of one workload.
type Observed struct {
	Traces []Trace       // several of the baseline, one or more of every other arm
	Launch time.Duration // what one launch of all arms took
	Switch time.Duration // what one switch between arms took
	Budget time.Duration // what is left for this workload
	Arms   int
	Pause  string
}

// Lengths are what a run cuts by.
type Lengths struct {
	Window, Discard time.Duration
	Blocks          int // per generation
	Generations     int // expected
}

// Tune chooses the discard, the window and the blocks per generation, and says
// why. Fixed lengths other than zero are kept.
func Tune(o Observed, fixed Lengths) (Lengths, record.Pilot) {
	out := fixed
	p := record.Pilot{Pause: o.Pause}
	why := ""
	if out.Discard == 0 {
		out.Discard, p.Thaws, why = tuneDiscard(o)
	} else {
		why = "discard as asked"
	}
	if out.Window == 0 {
		var more string
		out.Window, p.Slots, more = tuneWindow(o, out.Discard)
		why += "; " + more
	} else {
		why += "; window as asked"
	}
	var more string
	out, more = allocate(o, out, p.Slots, fixed)
	p.Window, p.Discard, p.Blocks = out.Window.Seconds(), out.Discard.Seconds(), out.Blocks
	p.Why = why + "; " + more
	return out, p
}

// blind is the half width from which on the pilot's noise hides a transient.
const blind = 0.05

// tuneDiscard takes the shortest discard after which the rate cannot be told
// from the rate later on, or differs by less than 1 %; where there is none, the
// one with the least difference. Where noise hides a transient, it is as long as
// is usual. What the budget has no room for is left out.
func tuneDiscard(o Observed) (time.Duration, []record.ThawNoise, string) {
	const usual = 50 * time.Millisecond
	var seen []record.ThawNoise
	best, least := usual, math.Inf(1)
	hidden, noise := time.Duration(0), 0.0
	for _, d := range discards {
		est := transient(o.Traces, ticks(d))
		half := est.At(0.95).Half()
		if math.IsInf(half, 0) || math.IsNaN(half) || !fits(o, windows[0], (d+o.Switch).Seconds()) {
			continue
		}
		seen = append(seen, record.ThawNoise{Discard: d.Seconds(), Ratio: est.Mean, Half: half})
		off := math.Abs(est.Mean)
		switch {
		case half > blind:
			if d <= usual {
				hidden, noise = d, half
			}
		case off <= max(0.01, half):
			return d, seen, fmt.Sprintf("after %s the rate is within %.1f %% of the later rate (±%.1f %%)", length(d), 100*off, 100*half)
		case off < least:
			best, least = d, off
		}
	}
	switch {
	case len(seen) == 0:
		return best, nil, fmt.Sprintf("too few operations to see the transient after a thaw, %s taken", length(best))
	case hidden > 0:
		return hidden, seen, fmt.Sprintf("noise (±%.0f %%) hides the transient after a thaw, %s taken", 100*noise, length(hidden))
	}
	return best, seen, fmt.Sprintf("%s after a thaw the rate still differs by %.1f %% from the later rate, and no discard does better", length(best), 100*least)
}

// transient estimates the log ratio of the rate in the 60 ms that follow the
// first skip ticks to the rate in the last half of the trace.
func transient(traces []Trace, skip int) stat.Estimate {
	const early = 6
	var d []float64
	for _, t := range traces {
		if len(t.Ticks) < 2*(skip+early) {
			continue
		}
		a, b := rate(t.Ticks[skip:skip+early]), rate(t.Ticks[len(t.Ticks)/2:])
		if a > 0 && b > 0 {
			d = append(d, math.Log(a/b))
		}
	}
	return stat.Mean(d)
}

// tuneWindow takes the window that reaches a given width soonest on the noise
// of the longest trace, among those that the budget has room for.
func tuneWindow(o Observed, discard time.Duration) (time.Duration, []record.SlotNoise, string) {
	var seen []record.SlotNoise
	best, least := time.Duration(0), math.Inf(1)
	overhead := (discard + o.Switch).Seconds()
	trace := longest(o.Traces)
	shortest := shortestWindow(o, overhead)
	for _, w := range windows {
		if w < shortest {
			continue
		}
		c := stat.SlotCosts(trace, Tick.Seconds(), overhead, []float64{w.Seconds()})[0]
		if math.IsInf(c.Cost, 0) || rate(trace)*float64(ticks(w)) < minOps || !fits(o, w, overhead) {
			continue
		}
		seen = append(seen, record.SlotNoise{Window: w.Seconds(), Noise: math.Sqrt(c.Variance), Cost: c.Cost})
		if c.Cost < 0.97*least { // a longer window has to earn it
			best, least = w, c.Cost
		}
	}
	if best == 0 {
		if best = fallback(o, overhead); best < shortest {
			return shortest, seen, fmt.Sprintf("operations are slow: %s windows hold some of every arm", length(shortest))
		}
		return best, seen, fmt.Sprintf("the budget is too short to compare window lengths, %s taken", length(best))
	}
	return best, seen, fmt.Sprintf("%s windows reach a width soonest on this noise", length(best))
}

// minOps is the least number of operations in a window: fewer make the rate
// itself coarse.
const minOps = 20

// fewOps is the least number of operations in a window of the slowest arm: a
// window without any takes its whole block with it.
const fewOps = 5

// shortestWindow is the shortest that holds a few operations of every arm, as
// far as the budget has room for some blocks of it.
func shortestWindow(o Observed, overhead float64) time.Duration {
	slowest := math.Inf(1) // operations per tick
	for _, t := range o.Traces {
		if len(t.Ticks) > 0 {
			slowest = min(slowest, max(rate(t.Ticks), 1/float64(len(t.Ticks)))) // none seen: it may do one
		}
	}
	best := windows[0]
	for _, w := range windows[1:] {
		if slowest*float64(ticks(best)) >= fewOps || minBlocks*float64(o.Arms)*(w.Seconds()+overhead) > (o.Budget-o.Launch).Seconds() {
			break
		}
		best = w
	}
	return best
}

func longest(traces []Trace) []float64 {
	var out []float64
	for _, t := range traces {
		if len(t.Ticks) > len(out) {
			out = t.Ticks
		}
	}
	return out
}

// fits says whether enough blocks of windows this long can be had.
func fits(o Observed, w time.Duration, overhead float64) bool {
	block := float64(o.Arms) * (w.Seconds() + overhead)
	return minGenerations*(o.Launch.Seconds()+minBlocks*block) <= o.Budget.Seconds()
}

// fallback is the longest window up to half a second that fits the budget.
func fallback(o Observed, overhead float64) time.Duration {
	best := windows[0]
	for _, w := range windows {
		if w <= 500*time.Millisecond && fits(o, w, overhead) {
			best = w
		}
	}
	return best
}

// allocate divides the budget into generations and blocks: blocks per
// generation = sqrt(cost of a launch / cost of a block * variance of a block /
// variance of a launch) (Kalibera and Jones 2013, ISMM, section 6), within
// what still leaves enough generations.
func allocate(o Observed, l Lengths, slots []record.SlotNoise, fixed Lengths) (Lengths, string) {
	block := float64(o.Arms) * (l.Window + l.Discard + o.Switch).Seconds()
	launch, budget := o.Launch.Seconds(), o.Budget.Seconds()
	want := wantGenerations
	if fixed.Generations > 0 {
		want = fixed.Generations
	}
	most := int((budget/float64(want) - launch) / block)
	if fixed.Generations == 0 && most < minBlocks {
		want = minGenerations
		most = int((budget/float64(want) - launch) / block)
	}
	if fixed.Generations == 0 && most < 2 || fixed.Generations == 1 {
		l.Generations, l.Blocks = 1, max(2, int((budget-launch)/block))
		return l, fmt.Sprintf("one launch of %d blocks: the budget has no room for more", l.Blocks)
	}
	noise := 0.05
	for _, s := range slots {
		if s.Window == l.Window.Seconds() {
			noise = s.Noise
		}
	}
	best := math.Sqrt(launch/block) * noise / launchSD
	l.Blocks = min(max(minBlocks, int(math.Round(best))), max(most, 2), maxBlocks)
	l.Generations = max(1, int(budget/(launch+float64(l.Blocks)*block)))
	if fixed.Generations > 0 {
		l.Generations, l.Blocks = fixed.Generations, max(most, 2)
	}
	return l, fmt.Sprintf("about %d launches of %d blocks (a launch takes %.1f s, a block %.1f s)", l.Generations, l.Blocks, launch, block)
}

// Longer doubles the window, for a run whose transparency check failed, and
// says whether that still fits.
func Longer(o Observed, l Lengths) (Lengths, bool) {
	next := l
	next.Window = 2 * l.Window
	if !fits(o, next.Window, (l.Discard + o.Switch).Seconds()) {
		return l, false
	}
	next.Generations = 0
	next, _ = allocate(o, next, nil, Lengths{})
	return next, true
}

func ticks(d time.Duration) int { return int((d + Tick - 1) / Tick) }

// rate is the mean count per tick.
func rate(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// length is a duration as a person writes it: "50 ms", "1.2 s".
func length(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%g s", math.Round(10*d.Seconds())/10)
}
