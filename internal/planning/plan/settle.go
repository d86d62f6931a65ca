package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// settles are the settle times that the pilot judges: what is thrown away after
// a thaw.
var settles = []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}

// own is the least transient of an arm of its own that matters, as a log ratio
// of the rate right after the settle time to the rate later on. One that all
// arms have in common is in every rate and cancels.
const own = 0.02

// blind is the half-width from which on the pilot's noise hides a transient; the
// windows themselves show it later, see Halves.
const blind = 0.1

// settle is the shortest settle time after which no arm has a transient of its
// own, beyond own and beyond the noise of the traces.
func settle(o Observed) (time.Duration, []record.ThawNoise, string) {
	var seen []record.ThawNoise
	for _, d := range settles {
		arm, off, half := transient(o.Traces, ticks(d))
		if math.IsInf(half, 0) || math.IsNaN(half) {
			break
		}
		seen = append(seen, record.ThawNoise{Discard: d.Seconds(), Ratio: off, Half: half})
		if half > blind {
			return d, seen, fmt.Sprintf("noise (±%.0f %%) hides the transient after a thaw, %s taken until the windows tell", 100*half, length(d))
		}
		if math.Abs(off) <= max(own, half) {
			return d, seen, fmt.Sprintf("after %s no arm has a transient of its own (at most %.1f %% ±%.1f %%, %s)", length(d), 100*math.Abs(off), 100*half, arm)
		}
	}
	if len(seen) == 0 {
		d := settles[0]
		return d, nil, fmt.Sprintf("too few operations to see a transient after a thaw, %s taken", length(d))
	}
	d := settles[min(len(seen), len(settles)-1)]
	last := seen[len(seen)-1]
	return d, seen, fmt.Sprintf("%s after a thaw an arm still has a transient of its own (%.1f %% ±%.1f %%), %s taken", length(settles[len(seen)-1]), 100*math.Abs(last.Ratio), 100*last.Half, length(d))
}

// early and late are the parts of a trace that are compared, in ticks after the
// settle time: the shortest usual window, and what follows.
const (
	early = 4
	late  = 16
)

// transient is the largest transient of an arm of its own after skip ticks: the
// log ratio of its early to its late rate against the mean of all arms; half is
// its 95 % half-width over all arms (Bonferroni), from what differs between the
// thaws of one arm.
func transient(traces []Trace, skip int) (arm string, off, half float64) {
	by := map[string][]float64{}
	var names []string
	for _, t := range traces {
		rest := t.Ticks[min(skip, len(t.Ticks)):]
		if len(rest) < 2*early {
			continue
		}
		a, b := rate(rest[:early]), rate(rest[early:min(len(rest), early+late)])
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

// Halves sees, in the windows that count, what the pilot was too short to see: an
// arm that is slower, or faster, in the first half of its windows than in the
// second, beyond what the baseline and its twin are.
type Halves struct {
	names []string
	of    map[string][]float64 // log ratios against the controls, per block
}

// Add takes the windows of a block whose middle is known.
func (h *Halves) Add(b *record.Block, controls ...string) {
	if h.of == nil {
		h.of = map[string][]float64{}
	}
	control, n := 0.0, 0.0
	for i := range b.Windows {
		if w := &b.Windows[i]; w.Dropped == "" && w.FirstSeconds > 0 && slices.Contains(controls, w.Arm) {
			control, n = control+halves(w), n+1
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
		h.of[w.Arm] = append(h.of[w.Arm], halves(w)-control/n)
	}
}

// halves is the log ratio of the rates; half an operation more in each keeps one
// without any finite.
func halves(w *record.Window) float64 {
	return math.Log((float64(w.First) + 0.5) / w.FirstSeconds * (w.Seconds - w.FirstSeconds) / (float64(w.Ops-w.First) + 0.5))
}

// Uneven names an arm whose rate in a window is off by more than 1 % through a
// transient of its own, and says how it was seen; empty: none is known to be.
// It is asked after every launch: sure is far beyond chance. Where a half holds few operations, its noise has no use for a
// longer window on this ground.
func (h *Halves) Uneven() (arm, why string) {
	const sure, least, off, most = 4, 40, 0.01, 0.05
	for _, n := range h.names {
		if len(h.of[n]) < least {
			continue
		}
		e := stat.Trimmed(h.of[n], 0.1)
		if e.SE < most && math.Abs(e.Mean) > sure*e.SE && math.Abs(e.Mean)/2 > off {
			return n, fmt.Sprintf("the first half of the windows of %s is %+.1f %% off the second, against the baseline (standard error %.1f %%)", n, 100*math.Expm1(e.Mean), 100*e.SE)
		}
	}
	return "", ""
}
