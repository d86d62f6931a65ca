package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// trim is the share of blocks left out at each end where a trimmed mean of them
// is compared with their mean.
const trim = 0.10

// compared is one metric of one workload in all arms.
type compared struct {
	*table
	*fits
	questions int // metrics that are judged; 0: this one is not
	margin    float64
	losses    *losses // windows that were dropped
	unequal   []record.Unequal
	noise     stat.Interval // of the twin
	shut      bool          // what is not the question is not judged
}

// line is one comparison on its way to an effect.
type line struct{ arm, base string }

// effects compares every arm with the control; the twin is judged alone, as it
// tests the method and not the arms.
func (c *compared) effects() (effects, twin []record.Effect) {
	if t := c.twin(); t != "" {
		twin = c.judgeAll([]line{{t, c.load.Baseline}})
	}
	c.noise = stat.Interval{}
	for _, x := range twin {
		if x.Own != nil { // around nothing: where the twin happens to be is noise, too
			half := max(math.Log(x.Own.High), -math.Log(x.Own.Low))
			c.noise = stat.Interval{Lo: -half, Hi: half}
		}
	}
	groups := c.asked(c.fits)
	if c.questions == 0 { // one rate of false discoveries for all
		groups = [][]string{slices.Concat(groups...)}
	}
	for _, group := range groups {
		var lines []line
		for _, a := range group {
			lines = append(lines, line{a, c.load.Baseline})
		}
		effects = append(effects, c.judgeAll(lines)...)
	}
	c.shut = c.closed(effects)
	c.gate(effects)
	place := func(a, b record.Effect) int { return cmp.Compare(c.index[a.Arm], c.index[b.Arm]) }
	slices.SortStableFunc(effects, place)
	return effects, twin
}

// steps compares every rung with the one below, after effects; the remainder is the
// step to the real container.
func (c *compared) steps() (steps, remainder []record.Effect) {
	var lines []line
	for _, a := range c.arms {
		if below := c.arm(a).Step; below != "" {
			lines = append(lines, line{a, below})
		}
	}
	steps = c.judgeAll(lines)
	c.gate(steps)
	for _, e := range steps {
		if c.arm(e.Arm).Remainder {
			remainder = append(remainder, e)
		}
	}
	return steps, remainder
}

// judgeAll estimates and judges lines that are judged together.
func (c *compared) judgeAll(lines []line) []record.Effect {
	typical, total := make([][]float64, len(lines)), make([][]float64, len(lines))
	for i, l := range lines {
		typical[i], total[i] = c.contrast(c.typical, l.arm, l.base), c.contrast(c.total, l.arm, l.base)
	}
	s := standard{judged: c.questions > 0, better: c.Better, margin: c.margin, noise: c.noise}
	rulings := ofContrasts(c.typical, typical, c.alpha, c.questions).judge(s)
	all := ofContrasts(c.total, total, c.alpha, c.questions).judge(s)
	alone := 1 - c.alpha
	if c.questions > 0 {
		alone = c.typical.Alone(typical, 1-c.alpha, c.questions)
	}
	out := make([]record.Effect, len(lines))
	for i, l := range lines {
		out[i] = c.blank(l)
		if why := c.whyNot(c.fits, l.arm, l.base); why != "" {
			out[i].Reason = why
			continue
		}
		rulings[i].fill(&out[i])
		out[i].Total = shown(all[i].est, all[i].shown)
		c.bound(&out[i], rulings[i], l)
		withhold(&out[i])
		c.intermittent(&out[i], l)
		if out[i].Verdict == record.Undecided {
			out[i].Needed = c.toDecide(rulings[i], typical[i], alone)
		}
	}
	return out
}

// toDecide is how many more seconds would probably decide an effect of this size.
// For what is judged it follows the fit, else the root of time.
func (c *compared) toDecide(r ruling, contrast []float64, level float64) float64 {
	half := neededHalf(r.est.Mean, c.margin)
	if c.questions > 0 {
		return c.needed(c.typical, contrast, level, half)
	}
	return rootOfTime(r.shown.Half(), half, c.seconds)
}

// withhold takes all numbers from an effect whose interval is too wide to be shown: a mean,
// or a test, without it would be read as a result by programs.
func withhold(e *record.Effect) {
	if e.Typical == nil {
		e.Total, e.Own, e.Bound, e.P, e.Adjusted, e.Detectable = nil, nil, nil, nil, nil, 0
	}
}

func (c *compared) blank(l line) record.Effect {
	return record.Effect{
		Unequal:  c.unequalTo(l.arm, l.base),
		Workload: c.load.Name, Metric: c.Name, Arm: l.arm, Baseline: l.base,
		Verdict: record.Undecided, Exploratory: c.questions == 0,
		Blocks: len(c.blocksOf(c.fits, l.arm)), Generations: c.launches(),
	}
}

// bound widens the interval by what dropped windows may hide; where that takes a
// verdict away the data cannot carry one.
func (c *compared) bound(e *record.Effect, r ruling, l line) {
	by, text := c.losses.bound(c.fits, l.arm, l.base)
	if text == "" {
		return
	}
	v, wide := r.widened(by)
	e.Bound = shown(r.est, wide)
	if e.Verdict != record.Undecided && v != e.Verdict {
		e.Verdict, e.Reason = record.Invalid, text
	}
}

// intermittent marks a loss that part of the windows have and the typical
// effect does not show: mean and trimmed mean differ by more than their noise.
func (c *compared) intermittent(e *record.Effect, l line) {
	if c.Quantile != 0 || e.Typical == nil || e.Total == nil || l.base != c.load.Baseline {
		return
	}
	blocks := c.blocksOf(c.fits, l.arm)
	d := stat.Disagreement(blocks, trim)
	if !d.Known() || !(d.PValue() < 0.01) || math.Abs(d.Mean) < 0.2*math.Log1p(c.margin) {
		return
	}
	typical := math.Log(e.Typical.Ratio)
	// Trimmed by a quarter, so that up to a quarter of slow blocks do not widen
	// what counts as noise; for normal differences about 1.1 SD.
	noise := 3 * stat.Trimmed(blocks, 0.25).SE * math.Sqrt(float64(len(blocks)))
	limit := math.Copysign(noise, -float64(c.Better))
	for i := range blocks {
		blocks[i] -= typical
	}
	e.Intermittent, e.Slow = true, finite(stat.Share(blocks, limit))
}

// parts says how much of a loss of throughput is less CPU time and how much is
// fewer operations for it: log throughput = log(CPU seconds per second) +
// log(operations per CPU second).
func (t *table) parts(effects []record.Effect, pools []*pooled) {
	var received *fits
	for i := range effects {
		e := &effects[i]
		if e.Metric != metric.Throughput.Name || e.Typical == nil {
			continue
		}
		at := slices.IndexFunc(effects, func(x record.Effect) bool {
			return x.Metric == metric.Efficiency.Name && x.Arm == e.Arm && x.Baseline == e.Baseline
		})
		if at < 0 || effects[at].Own == nil {
			continue
		}
		if received == nil {
			received = t.fit(t.received(), pools)
		}
		c := t.contrast(received.typical, e.Arm, e.Baseline)
		cpu := shown(received.typical.Contrast(c), received.typical.Interval(c, 1-t.alpha))
		if cpu == nil {
			continue
		}
		own := *effects[at].Own
		e.Parts = &record.Parts{CPU: *cpu, Efficiency: own, Most: mostOf(*cpu, own)}
	}
}

// mostOf names the part of which a change is shown, the larger one where it is of
// both; empty where it is of neither.
func mostOf(cpu, efficiency record.Ratio) string {
	size := func(r record.Ratio) float64 {
		if r.Low <= 1 && r.High >= 1 {
			return 0
		}
		return math.Abs(math.Log(r.Ratio))
	}
	switch a, b := size(cpu), size(efficiency); {
	case a == 0 && b == 0:
		return ""
	case b >= a:
		return record.PartEfficiency
	}
	return record.PartCPU
}

// neededHalf is the half-width that would decide an effect of this size:
// exclude 0 or lie inside the margin, whichever is nearer.
func neededHalf(mean, margin float64) float64 {
	delta := math.Log1p(margin)
	size := math.Abs(mean)
	return nearly * max(size, delta-size, 0.3*delta)
}
