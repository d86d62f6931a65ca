package answer

import (
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// noise returns the range of steal over all arms and loads, and the largest use of CPU time by other
// work over the loads, as shares of all CPUs.
func noise(e *record.Effects) record.HostNoise {
	var n record.HostNoise
	for _, w := range e.Workloads {
		if quantity.Finite(w.NoiseFloor) {
			n.Floor = max(n.Floor, w.NoiseFloor)
		}
		n.ForeignHigh = max(n.ForeignHigh, otherWork(e, w.Name))
	}
	if e.Host.CPUs <= 0 {
		return n
	}
	first := true
	for _, k := range e.Kernel {
		if k.Metric != "cpu.steal" || k.Per != "second" {
			continue
		}
		for _, v := range k.Values {
			x, ok := v.Get()
			if x /= float64(e.Host.CPUs); !ok || !quantity.Finite(x) || x < 0 {
				continue
			}
			x = min(x, 1) // a tick of the kernel may be longer than a window
			if first || x < n.StealLow {
				n.StealLow = x
			}
			n.StealHigh, first = max(n.StealHigh, x), false
		}
	}
	return n
}

// menu returns the time of each precision, added up over the loads. A load that is as precise
// already takes no time.
func menu(e *record.Effects) (out []record.Offer) {
	var halves []float64
	for _, w := range e.Workloads {
		for _, f := range w.Forecast {
			if f.Metric == w.Primary && !slices.Contains(halves, f.Half) {
				halves = append(halves, f.Half)
			}
		}
	}
	slices.Sort(halves)
	slices.Reverse(halves)
	for _, half := range halves {
		if slices.ContainsFunc(e.Workloads, func(w record.WorkloadResult) bool { return !foretold(w, half) }) {
			continue
		}
		if o := offer(e, half); o.Seconds > 0 {
			out = append(out, o)
		}
	}
	return out
}

// offer is the time of a precision for all loads. The errors of the loads' forecasts are
// independent, so their squares add up.
func offer(e *record.Effects, half float64) record.Offer {
	o, before, after := record.Offer{Half: half}, 0.0, 0.0
	for _, w := range e.Workloads {
		for _, f := range w.Forecast {
			if f.Metric != w.Primary || f.Half != half || !quantity.Finite(f.Seconds) {
				continue
			}
			o.Seconds += max(f.Seconds, 0)
			before = math.Hypot(before, f.Seconds-f.Soonest)
			if after = math.Hypot(after, f.Latest-f.Seconds); f.Latest == 0 {
				after = math.Inf(1)
			}
		}
	}
	if quantity.Finite(after) {
		o.Soonest, o.Latest = max(o.Seconds-before, 0), o.Seconds+after
	}
	return o
}

// foretold reports whether the time of a precision is known: the load has a forecast for it or
// for a narrower one, so that the load has it already.
func foretold(w record.WorkloadResult, half float64) bool {
	least := math.Inf(1)
	for _, f := range w.Forecast {
		if f.Metric == w.Primary {
			least = min(least, f.Half)
		}
	}
	return math.IsInf(least, 1) || least <= half
}

// open reports whether more time may decide more of a result.
func open(a *record.Answers) bool {
	return anyRow(a.Tables, func(s record.Says) bool {
		return s.Word == record.SaysUndecided && !s.Answered() || s.Word == record.SaysSkipped && s.Remedy.IsZero()
	})
}

// unsteady is the least share of the CPUs, taken by others, that an answer names.
const unsteady = 0.05

// continues reports whether tare run --continue can add to a result: not to an imported one, to
// one of a node helper, or to a run that has not ended.
func continues(e *record.Effects) bool {
	return e.Imported == nil && e.Host.Helper == nil && e.Ended != record.EndedRunning
}

// next returns what to do next, the most useful first.
func next(a *record.Answers, e *record.Effects) (out []record.NextStep) {
	for _, l := range a.Skipped {
		if !l.Remedy.IsZero() {
			out = append(out, record.NextStep{Kind: record.NextProvide, Remedy: l.Remedy})
		}
	}
	if e.Ended == record.EndedError { // more time would fail again
		for _, c := range e.Caveats {
			if !c.Remedy.IsZero() {
				out = append(out, record.NextStep{Kind: record.NextProvide, Remedy: c.Remedy})
			}
		}
		return out
	}
	if e.Imported != nil || !open(a) {
		return out
	}
	if continues(e) {
		out = append(out, record.NextStep{Kind: record.NextContinue, Seconds: needed(a)})
	}
	if a.Noise.StealHigh > unsteady {
		out = append(out, record.NextStep{Kind: record.NextDedicated})
	}
	if a.Noise.ForeignHigh > unsteady {
		out = append(out, record.NextStep{Kind: record.NextQuieter})
	}
	return out
}

// needed is the time in seconds, rounded as it is printed and to whole minutes, in which all rows without an answer would probably have one: each
// load's longest; 0: unknown.
func needed(a *record.Answers) (sum float64) {
	longest := map[string]float64{}
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			switch {
			case r.Says.Word != record.SaysUndecided || r.Says.Answered():
			case r.Says.Seconds == 0:
				return 0
			default:
				longest[r.Workload] = max(longest[r.Workload], r.Says.Seconds)
			}
		}
	}
	for _, load := range slices.Sorted(maps.Keys(longest)) {
		sum += longest[load]
	}
	const aYear = 365 * 86400.
	if sum > aYear {
		return 0
	}
	return 60 * math.Ceil(quantity.RoundedUp(sum)/60)
}
