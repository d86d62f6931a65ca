package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Tick is the interval at which the pilot's traces count operations.
const Tick = 5 * time.Millisecond

// slots are the window lengths from which the pilot chooses, each with its usual settle time. On shared
// hosts slow noise dominates. It cancels between windows that are close together, so short windows have
// less noise per second of measuring.
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

// Trace has the operations of one arm in each Tick after one thaw. The first tick begins at the thaw.
type Trace struct {
	Arm   string
	Ticks []float64
	// OtherWork is the share of the CPUs that other processes of the host used; 0: none, or not known.
	OtherWork float64
}

// Observed has the pilot's traces of one workload, and the times that it measured.
type Observed struct {
	Traces []Trace       // one long trace of the baseline, two or more short ones of every arm
	Launch time.Duration // time of a launch of all arms, until they are warm, and of closing them
	Switch time.Duration // time that a window takes beyond its length and its settle time
	Budget time.Duration // time that is left for this workload
	Stands bool          // the arms are launched already: the time of that launch is no part of Budget
	Least  time.Duration // shortest window that the load allows
	Settle time.Duration // shortest settle time that the load allows; 0: only the pilot decides
	// BesideWork is the shortest settle time where other processes of the host use the share
	// competing of the CPUs or more, see Load.SettleBesideWork.
	BesideWork time.Duration
	Arms       int // arms in a block
	// Launches is the least number of launches of the turn; 0: minLaunches. Made of them are over.
	Launches, Made int
	// LaunchSD is the standard deviation of an arm's launch effect, in logs, as the run has measured
	// it; 0: not measured.
	LaunchSD float64
	Pause    string // method of pausing an arm, see session.Session.Method
}

// competing is the share of the CPUs from which other processes of the host change what an arm gets.
const competing = 0.1

// Lengths are the lengths and numbers by which a run divides its time; 0: not chosen yet.
type Lengths struct {
	Window, Discard time.Duration // of a window, and its settle time
	Blocks          int           // blocks in a launch
	Generations     int           // expected number of launches
}

// Tune chooses the settle time, the window and the blocks per launch. record.Pilot says why. It keeps the
// fields of fixed that are not 0.
func Tune(o Observed, fixed Lengths) (Lengths, record.Pilot) {
	out := fixed
	p := record.Pilot{Pause: o.Pause}
	settleWhy, least := record.Say("settle_time_asked"), fixed.Discard
	others := otherWork(o.Traces)
	busy := others >= competing && o.BesideWork > o.Settle
	if busy {
		o.Settle = o.BesideWork
	}
	switch {
	case fixed.Discard > 0:
		o.Settle = 0
	case o.Settle >= settleTimes[len(settleTimes)-1]:
		settleWhy, least = settleForQuota(o.Settle), settleTimes[0]
	default:
		least, p.Thaws, settleWhy = settle(o)
		if least < o.Settle {
			if settleWhy = settleBesideNeighbour(o.Settle); busy {
				settleWhy = settleBesideWork(o.Settle, others)
			}
		}
	}
	windowWhy := record.Say("window_asked")
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

// otherWork is the mean over the traces of the share of the CPUs that other processes used.
func otherWork(traces []Trace) float64 {
	sum, seconds := 0.0, 0.0
	for _, t := range traces {
		sum, seconds = sum+t.OtherWork*float64(len(t.Ticks)), seconds+float64(len(t.Ticks))
	}
	if seconds == 0 {
		return 0
	}
	return sum / seconds
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

// tuneWindow chooses the window that reaches a given precision soonest with the noise of the longest
// trace, and says why. A slot is possible if its settle time is at least least, if enough blocks fit
// into the budget, and if its window is at least twice as long as settle time and switch together.
func tuneWindow(o Observed, least time.Duration, fixed Lengths) (Lengths, []record.SlotNoise, record.Said) {
	var seen []record.SlotNoise
	out, cost := fixed, math.Inf(1)
	trace := longest(o.Traces)
	shortest := shortestWindow(o, least)
	possible := 0
	for _, s := range slots {
		s.Discard = cmp.Or(fixed.Discard, s.Discard)
		beside := max(s.Discard, least) + o.Switch
		overhead := max(beside, o.Settle+o.Switch).Seconds()
		if s.Window < shortest || s.Window < 2*beside || s.Discard < least && s.Window < slots[len(slots)-1].Window || meanPerTick(trace)*float64(ticks(s.Window)) < minOps || !fits(o, s.Window, overhead) {
			continue
		}
		possible++
		v := blockVariance(trace, overhead, s.Window.Seconds(), o.Arms)
		if math.IsNaN(v) {
			if possible == 1 {
				out.Window = s.Window // the trace is too short to compare windows: take the shortest
			}
			continue
		}
		c := 2 * v * (s.Window.Seconds() + overhead)
		seen = append(seen, record.SlotNoise{Window: s.Window.Seconds(), Noise: math.Sqrt(v), Cost: c})
		if c < 0.97*cost { // choose a longer window only if it is at least 3 % cheaper
			out.Window, cost = s.Window, c
		}
	}
	switch {
	case possible == 0:
		overhead := (max(least, usualSettle(shortest), o.Settle) + o.Switch).Seconds()
		if out.Window = longestFitting(o, overhead); out.Window <= shortest {
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

// blockVariance is the variance of the log ratio of two windows of a block, as the mean over all pairs of
// windows. It skips distances for which the trace is too short; NaN: all of them. overhead and window
// are in seconds.
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
	// minOps is the least number of operations in a window of the baseline. With fewer, the rounding
	// to whole operations is a large part of the rate's noise.
	minOps = 20
	// fewOps is the least number of operations in a window of the slowest arm.
	fewOps = 5
)

// shortestWindow returns the shortest window in which every arm does at least fewOps operations. It
// returns a shorter one if the budget has no room for fewBlocks blocks.
func shortestWindow(o Observed, least time.Duration) time.Duration {
	slowest := math.Inf(1) // operations per tick
	for _, n := range operations(o.Traces) {
		slowest = min(slowest, max(n[0], 1)/n[1]) // count an arm without operations as one operation
	}
	best := max(slots[0].Window, o.Least)
	for _, s := range slots {
		if s.Window <= best {
			continue
		}
		overhead := max(s.Discard, least, o.Settle) + o.Switch
		if slowest*float64(ticks(best)) >= fewOps || fewBlocks*float64(o.Arms)*(s.Window+overhead).Seconds() > (o.budgetWithLaunch()-o.Launch).Seconds() {
			break
		}
		best = s.Window
	}
	return best
}

// operations returns, by arm, the number of operations and the number of ticks.
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

// PilotLengths returns the lengths of the baseline's long trace and of each arm's short traces after a
// thaw: together about a fortieth of the time that is left, or an eighth for a load with slow
// operations.
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

// Slow says whether a trace has less than one operation per tick.
func Slow(t Trace) bool { return meanPerTick(t.Ticks) < 1 }

// longest returns the ticks of the longest trace.
func longest(traces []Trace) []float64 {
	var out []float64
	for _, t := range traces {
		if len(t.Ticks) > len(out) {
			out = t.Ticks
		}
	}
	return out
}

// fits says whether the budget has room for minLaunches launches of fewBlocks blocks of such windows.
// overhead is in seconds.
func fits(o Observed, w time.Duration, overhead float64) bool {
	block := float64(o.Arms) * (w.Seconds() + overhead)
	return minLaunches*(o.Launch.Seconds()+fewBlocks*block) <= o.budgetWithLaunch().Seconds()
}

// longestFitting returns the longest window up to half a second that fits into the budget.
func longestFitting(o Observed, overhead float64) time.Duration {
	best := slots[0].Window
	for _, s := range slots {
		if s.Window <= 500*time.Millisecond && fits(o, s.Window, overhead) {
			best = s.Window
		}
	}
	return best
}

// Longer returns the next longer window and settle time, for a run whose windows were too short, and
// whether they fit into the budget.
func Longer(o Observed, l Lengths) (Lengths, bool) {
	discard := l.Discard
	if discard <= o.Settle { // the load requires this settle time; the transient may be shorter
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

// ticks returns d in ticks, rounded up.
func ticks(d time.Duration) int { return int((d + Tick - 1) / Tick) }

// meanPerTick returns the mean number of operations per tick.
func meanPerTick(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
