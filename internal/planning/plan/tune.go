package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Tick is the sampling interval of the pilot's traces.
const Tick = 5 * time.Millisecond

// slots are the windows that the pilot chooses from, each with its usual settle time. The noise of
// shared hosts comes in long waves: the shorter the windows, the less noise per second of measuring.
var slots = []Lengths{
	{Window: 10 * time.Millisecond, Discard: 5 * time.Millisecond},
	{Window: 20 * time.Millisecond, Discard: 5 * time.Millisecond},
	{Window: 50 * time.Millisecond, Discard: 10 * time.Millisecond},
	{Window: 100 * time.Millisecond, Discard: 20 * time.Millisecond},
	{Window: 200 * time.Millisecond, Discard: 50 * time.Millisecond},
	{Window: 300 * time.Millisecond, Discard: 50 * time.Millisecond},
	{Window: 500 * time.Millisecond, Discard: 100 * time.Millisecond},
	{Window: time.Second, Discard: 100 * time.Millisecond},
	{Window: 2 * time.Second, Discard: 200 * time.Millisecond},
	{Window: 4 * time.Second, Discard: 500 * time.Millisecond},
}

// Trace is what the pilot saw of one arm after one thaw: the operations in each Tick, the first tick
// right after the thaw.
type Trace struct {
	Arm   string
	Ticks []float64
}

// Observed is all that the pilot saw of one workload.
type Observed struct {
	Traces []Trace       // a long one of the baseline, two or more short ones of every arm
	Launch time.Duration // of all arms
	Switch time.Duration // time that a window takes beyond its length and its settle time
	Budget time.Duration // time that is left for this workload
	Stands bool          // a launch has been made and goes on; Budget does not include it
	Least  time.Duration // shortest window
	Settle time.Duration // shortest settle time; 0: the pilot alone decides
	Arms   int           // in a block
	// Launches is the least number of launches; 0: minLaunches.
	Launches int
	Pause    string // method of pausing an arm, see session.Session.Method
}

// Lengths say how a run divides its time; zero fields are not chosen yet.
type Lengths struct {
	Window, Discard time.Duration // of a window, and its settle time
	Blocks          int           // in a launch
	Generations     int           // expected number of launches
}

// Tune chooses the settle time, the window and the blocks per launch, and says why. It keeps fixed
// lengths other than zero.
func Tune(o Observed, fixed Lengths) (Lengths, record.Pilot) {
	out := fixed
	p := record.Pilot{Pause: o.Pause}
	settleWhy, least := settleAsked, fixed.Discard
	switch {
	case fixed.Discard > 0:
		o.Settle = 0
	case o.Settle >= settleTimes[len(settleTimes)-1]:
		settleWhy, least = settleForQuota(o.Settle), settleTimes[0]
	default:
		least, p.Thaws, settleWhy = settle(o)
		if least < o.Settle {
			settleWhy = settleBesideNeighbour(o.Settle)
		}
	}
	windowWhy := windowAsked
	if fixed.Window == 0 {
		out, p.Slots, windowWhy = tuneWindow(o, least, fixed)
	}
	if fixed.Discard == 0 {
		out.Discard = max(least, usualSettle(out.Window), o.Settle)
	}
	out, launchesWhy := Allocate(o, out, NoiseOf(p.Slots, out.Window), fixed)
	p.Window, p.Discard, p.Blocks = out.Window.Seconds(), out.Discard.Seconds(), out.Blocks
	p.Why = everyReason(settleWhy, windowWhy, launchesWhy)
	return out, p
}

// usualSettle returns the usual settle time of a window.
func usualSettle(w time.Duration) time.Duration {
	d := slots[0].Discard
	for _, s := range slots {
		if s.Window <= w {
			d = s.Discard
		}
	}
	return d
}

// tuneWindow chooses the window that reaches a given precision soonest, on the noise of the longest
// trace, and says why. It chooses among slots whose settle time is at least least, which fit into the
// budget, and which are at least twice as long as the time that a window takes beside its length.
func tuneWindow(o Observed, least time.Duration, fixed Lengths) (Lengths, []record.SlotNoise, string) {
	var seen []record.SlotNoise
	out, cost := fixed, math.Inf(1)
	trace := longest(o.Traces)
	shortest := shortestWindow(o, least)
	possible := 0
	for _, s := range slots {
		s.Discard = cmp.Or(fixed.Discard, s.Discard)
		beside := max(s.Discard, least) + o.Switch
		overhead := max(beside, o.Settle+o.Switch).Seconds()
		if s.Window < shortest || s.Window < 2*beside || s.Discard < least && s.Window < slots[len(slots)-1].Window || rate(trace)*float64(ticks(s.Window)) < minOps || !fits(o, s.Window, overhead) {
			continue
		}
		possible++
		v := blockVariance(trace, overhead, s.Window.Seconds(), o.Arms)
		if math.IsNaN(v) {
			if possible == 1 {
				out.Window = s.Window // the trace is too short to tell: the shortest one
			}
			continue
		}
		c := 2 * v * (s.Window.Seconds() + overhead)
		seen = append(seen, record.SlotNoise{Window: s.Window.Seconds(), Noise: math.Sqrt(v), Cost: c})
		if c < 0.97*cost { // a longer window has to earn it
			out.Window, cost = s.Window, c
		}
	}
	switch {
	case possible == 0:
		overhead := (max(least, usualSettle(shortest), o.Settle) + o.Switch).Seconds()
		if out.Window = fallback(o, overhead); out.Window <= shortest {
			out.Window = shortest
			if shortest == o.Least {
				return out, seen, onlyShortest(shortest)
			}
			return out, seen, slowOperations(shortest)
		}
		return out, seen, notCompared(out.Window)
	case math.IsInf(cost, 1):
		return out, seen, shortestPossible(out.Window)
	}
	return out, seen, soonestOnNoise(out.Window)
}

// blockVariance is the variance of the log ratio of two windows of a block: the mean over the
// distances between windows of a block for which the trace is long enough; NaN: for none. overhead
// and window are in seconds.
func blockVariance(trace []float64, overhead, window float64, arms int) float64 {
	sum, n := 0.0, 0.0
	for apart := range max(1, arms-1) {
		// A block has arms-1-apart pairs of windows that are apart+1 slots from each other.
		between := overhead + float64(apart)*(window+overhead)
		v := stat.SlotVariance(trace, Tick.Seconds(), between, window)
		if math.IsNaN(v) {
			break
		}
		pairs := float64(max(1, arms-1-apart))
		sum, n = sum+pairs*v, n+pairs
	}
	return sum / n
}

// NoiseOf returns the noise that the pilot saw of a window, or the usual noise if it saw none.
func NoiseOf(seen []record.SlotNoise, window time.Duration) float64 {
	for _, s := range seen {
		if s.Window == window.Seconds() {
			return s.Noise
		}
	}
	return 0.05
}

const (
	// minOps is the least number of operations in a window of the baseline: with fewer, the rate
	// itself is coarse.
	minOps = 20
	// fewOps is the least number of operations in a window of the slowest arm.
	fewOps = 5
)

// shortestWindow returns the shortest window that holds fewOps operations of every arm, as long as
// the budget has room for minBlocks blocks of it.
func shortestWindow(o Observed, least time.Duration) time.Duration {
	slowest := math.Inf(1) // operations per tick
	for _, n := range operations(o.Traces) {
		slowest = min(slowest, max(n[0], 1)/n[1]) // an arm without operations may do one
	}
	best := max(slots[0].Window, o.Least)
	for _, s := range slots {
		if s.Window <= best {
			continue
		}
		overhead := max(s.Discard, least, o.Settle) + o.Switch
		if slowest*float64(ticks(best)) >= fewOps || minBlocks*float64(o.Arms)*(s.Window+overhead).Seconds() > (o.budgetWithLaunch()-o.Launch).Seconds() {
			break
		}
		best = s.Window
	}
	return best
}

// operations returns the operations and the ticks of each arm, in this order.
func operations(traces []Trace) map[string][2]float64 {
	of := map[string][2]float64{}
	for _, t := range traces {
		n := of[t.Arm]
		for _, x := range t.Ticks {
			n[0] += x
		}
		n[1] += float64(len(t.Ticks))
		if n[1] > 0 {
			of[t.Arm] = n
		}
	}
	return of
}

// PilotLengths returns the lengths of the baseline's long trace and of the short traces after a thaw:
// together about a fortieth of the time that is left, for a load with slow operations an eighth.
func PilotLengths(left time.Duration, arms int, slow bool) (long, short time.Duration) {
	if slow {
		long = min(max(left/12, time.Second), 6*time.Second)
		short = min(max(left/48/time.Duration(arms), 100*time.Millisecond), 250*time.Millisecond)
		return long.Round(Tick), short.Round(Tick)
	}
	all := min(max(left/40, 800*time.Millisecond), 4*time.Second)
	long = all * 2 / 5
	short = min(max((all-long)/time.Duration(2*arms), 50*time.Millisecond), 200*time.Millisecond)
	return long.Round(Tick), short.Round(Tick)
}

// Slow says whether a trace has too few operations to compare windows of some milliseconds.
func Slow(t Trace) bool { return rate(t.Ticks) < 1 }

func longest(traces []Trace) []float64 {
	var out []float64
	for _, t := range traces {
		if len(t.Ticks) > len(out) {
			out = t.Ticks
		}
	}
	return out
}

// fits says whether the budget has room for minLaunches launches of minBlocks blocks of such windows.
// overhead is in seconds.
func fits(o Observed, w time.Duration, overhead float64) bool {
	block := float64(o.Arms) * (w.Seconds() + overhead)
	return minLaunches*(o.Launch.Seconds()+minBlocks*block) <= o.budgetWithLaunch().Seconds()
}

// fallback returns the longest window up to half a second that fits into the budget.
func fallback(o Observed, overhead float64) time.Duration {
	best := slots[0].Window
	for _, s := range slots {
		if s.Window <= 500*time.Millisecond && fits(o, s.Window, overhead) {
			best = s.Window
		}
	}
	return best
}

// Longer returns the next longer window and settle time, for a run whose windows proved too short,
// and says whether they fit into the budget.
func Longer(o Observed, l Lengths) (Lengths, bool) {
	discard := l.Discard
	if discard <= o.Settle { // it is not that long because of a transient
		discard = usualSettle(l.Window)
	}
	for _, s := range slots {
		if s.Window > l.Window && s.Discard > discard {
			s.Blocks, s.Discard = l.Blocks, max(s.Discard, o.Settle)
			if !fits(o, s.Window, (s.Discard + o.Switch).Seconds()) {
				return l, false
			}
			s, _ = Allocate(o, s, 0.05, Lengths{})
			return s, true
		}
	}
	return l, false
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
