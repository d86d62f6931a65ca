package plan

import (
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// settleTimes are the settle times after a thaw that the pilot compares.
var settleTimes = []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}

const (
	// leastTransient is the least transient of a single arm that matters: the log ratio of its rate
	// right after the settle time to its rate later on. A transient that all arms have is in every
	// rate and cancels.
	leastTransient = 0.02
	// hidingNoise is the half-width at which the noise of the pilot's traces hides a transient. The
	// windows show it later, see Halves.
	hidingNoise = 0.1
)

// settle returns the shortest settle time after which no arm has a transient of its own beyond
// leastTransient and beyond the noise of the traces, what it saw, and in words why.
func settle(o Observed) (time.Duration, []record.ThawNoise, record.Said) {
	var seen []record.ThawNoise
	for _, d := range settleTimes {
		arm, off, half := transient(o.Traces, ticks(d))
		if math.IsInf(half, 0) || math.IsNaN(half) {
			break
		}
		seen = append(seen, record.ThawNoise{Discard: d.Seconds(), Ratio: off, Half: half})
		if half > hidingNoise {
			return d, seen, noiseHidesTransient(half, d)
		}
		if math.Abs(off) <= max(leastTransient, half) {
			return d, seen, noTransient(d, off, half, arm)
		}
	}
	if len(seen) == 0 {
		d := settleTimes[0]
		return d, nil, fewForTransient(d)
	}
	d := settleTimes[min(len(seen), len(settleTimes)-1)]
	last := seen[len(seen)-1]
	return d, seen, transientLeft(settleTimes[len(seen)-1], last.Ratio, last.Half, d)
}

// A transient compares two parts of a trace after the settle time, in ticks: the first earlyTicks,
// about a short window, and the next lateTicks.
const (
	earlyTicks = 4
	lateTicks  = 16
)

// transient returns the arm whose transient after skip ticks is largest. off is that transient: the
// log ratio of the arm's early to its late rate, against the mean of all arms. half is its 95 %
// half-width over all arms (Bonferroni), from the differences between the thaws of each arm; NaN:
// unknown.
func transient(traces []Trace, skip int) (arm string, off, half float64) {
	by := map[string][]float64{}
	var names []string
	for _, t := range traces {
		rest := t.Ticks[min(skip, len(t.Ticks)):]
		if len(rest) < 2*earlyTicks {
			continue
		}
		a, b := meanPerTick(rest[:earlyTicks]), meanPerTick(rest[earlyTicks:min(len(rest), earlyTicks+lateTicks)])
		if a > 0 && b > 0 {
			if by[t.Arm] == nil {
				names = append(names, t.Arm)
			}
			by[t.Arm] = append(by[t.Arm], math.Log(a/b))
		}
	}
	if len(names) < 2 {
		return "", 0, math.NaN()
	}
	means := make([]float64, len(names))
	squares, df := 0.0, 0.0
	for i, n := range names {
		e := stat.Mean(by[n])
		means[i] = e.Mean
		for _, x := range by[n] {
			squares += (x - e.Mean) * (x - e.Mean)
		}
		df += float64(len(by[n]) - 1)
	}
	if df < 1 {
		return "", 0, math.NaN()
	}
	all := stat.Mean(means).Mean
	t := stat.StudentQuantile(1-0.025/float64(len(names)), df)
	for i, n := range names {
		if x := means[i] - all; arm == "" || math.Abs(x) > math.Abs(off) {
			arm, off, half = n, x, t*math.Sqrt(squares/df/float64(len(by[n])))
		}
	}
	return arm, off, half
}

// Halves compares the halves of the windows that count. An arm that is slower or faster in the first
// half of its windows than in the second, by more than the baseline and its twin are, has a transient
// that the pilot was too short to show.
type Halves struct {
	names []string
	of    map[string][]float64 // log ratios against the controls, per block
}

// Add adds a block. Windows without a marked middle do not count. controls names the baseline and its
// twin.
func (h *Halves) Add(b *record.Block, controls ...string) {
	if h.of == nil {
		h.of = map[string][]float64{}
	}
	control, n := 0.0, 0.0
	for i := range b.Windows {
		if w := &b.Windows[i]; w.Dropped == "" && w.FirstSeconds > 0 && slices.Contains(controls, w.Arm) {
			control, n = control+halvesRatio(w), n+1
		}
	}
	for i := range b.Windows {
		w := &b.Windows[i]
		if w.Dropped != "" || n == 0 || w.FirstSeconds == 0 || slices.Contains(controls, w.Arm) {
			continue
		}
		if h.of[w.Arm] == nil {
			h.names = append(h.names, w.Arm)
		}
		h.of[w.Arm] = append(h.of[w.Arm], halvesRatio(w)-control/n)
	}
}

// halvesRatio is the log ratio of the rates in the first and the second half of a window. Half an
// operation more in each half keeps it finite.
func halvesRatio(w *record.Window) float64 {
	return math.Log((float64(w.First) + 0.5) / w.FirstSeconds * (w.Seconds - w.FirstSeconds) / (float64(w.Ops-w.First) + 0.5))
}

// Uneven names an arm whose rate in a window is off by more than 1 % because of a transient of its
// own, and says how that was seen; empty: no such arm is known. The run asks after every launch, so
// that sure is far beyond chance. Halves with few operations are too noisy to ask for longer windows.
func (h *Halves) Uneven() (arm string, why record.Said) {
	const sure, least, off, most = 4, 40, 0.01, 0.05
	for _, n := range h.names {
		if len(h.of[n]) < least {
			continue
		}
		e := stat.Trimmed(h.of[n], 0.1)
		if e.SE < most && math.Abs(e.Mean) > sure*e.SE && math.Abs(e.Mean)/2 > off {
			return n, halvesDiffer(n, math.Expm1(e.Mean), e.SE)
		}
	}
	return "", record.Said{}
}
