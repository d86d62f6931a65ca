package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// compared is one metric of one workload in all arms.
type compared struct {
	*table
	metric  metric
	pairs   map[string]pair // by arm
	primary bool
	margin  float64
	invalid string
	unequal []record.Unequal
}

// line is one comparison on its way to an effect.
type line struct {
	arm, base      string
	typical, total pseudo
	p              pair
}

// effects compares every arm with the baseline; the twin is judged alone, as
// it tests the method and not the arms.
func (c *compared) effects() (effects, twin []record.Effect) {
	var lines, twins []line
	for _, a := range c.arms {
		if a == c.load.Baseline {
			continue
		}
		p := c.pairs[a]
		l := line{arm: a, base: c.load.Baseline, typical: p.typical, total: p.total, p: p}
		if c.arm(a).Twin {
			twins = append(twins, l)
			continue
		}
		lines = append(lines, l)
	}
	return c.judgeAll(lines, false), c.judgeAll(twins, false)
}

// steps compares every rung with the one below; the remainder is the step to
// the real container.
func (c *compared) steps() (steps, remainder []record.Effect) {
	var lines []line
	for _, a := range c.arms {
		below := c.arm(a).Step
		if below == "" {
			continue
		}
		l := line{arm: a, base: below, p: c.pairs[a], typical: c.pairs[a].typical, total: c.pairs[a].total}
		if below != c.load.Baseline && l.typical != nil {
			lower := c.pairs[below]
			if lower.typical == nil {
				l.p.why, l.typical = lower.why, nil
			} else {
				l.typical, l.total = l.typical.less(lower.typical), l.total.less(lower.total)
			}
		}
		lines = append(lines, l)
	}
	for _, e := range c.judgeAll(lines, true) {
		if c.arm(e.Arm).Remainder {
			remainder = append(remainder, e)
		}
		steps = append(steps, e)
	}
	return steps, remainder
}

// judgeAll estimates lines that are judged together. Steps do not share a
// control, so their correction is Bonferroni's.
func (c *compared) judgeAll(lines []line, steps bool) []record.Effect {
	var typical, total [][]float64
	var at []int
	for i, l := range lines {
		if l.typical != nil {
			typical, total, at = append(typical, l.typical.known()), append(total, l.total.known()), append(at, i)
		}
	}
	joint, all := stat.Family(typical), stat.Family(total)
	if steps {
		joint.Shared, all.Shared = len(typical) == 1, len(total) == 1
	}
	p := make([]float64, len(at))
	for i := range at {
		p[i] = joint.Columns[i].PValue()
	}
	adjusted := stat.BenjaminiHochberg(p)
	out := make([]record.Effect, len(lines))
	for i, l := range lines {
		out[i] = c.blank(l)
	}
	for i, which := range at {
		c.complete(&out[which], lines[which], joint, all, i, p[i], adjusted[i])
	}
	return out
}

func (c *compared) blank(l line) record.Effect {
	return record.Effect{
		Unequal:  c.unequalTo(l.arm, l.base),
		Workload: c.load.Name, Metric: c.metric.name, Arm: l.arm, Baseline: l.base,
		Verdict: record.Undecided, Reason: l.p.why, Exploratory: !c.primary,
		Blocks: len(l.p.d), Generations: c.generations(), P: 1, Adjusted: 1,
	}
}

func (c *compared) complete(e *record.Effect, l line, joint, all stat.Joint, i int, p, adjusted float64) {
	est := joint.Columns[i]
	level := c.level()
	own := est.At(level)
	shownInterval, totalInterval := joint.Interval(i, level), all.Interval(i, level)
	e.P, e.Adjusted = orOne(p), orOne(joint.PValue(i))
	significant := shownInterval.Beyond(0)
	if !c.primary {
		shownInterval, totalInterval = own, all.Columns[i].At(level)
		e.Adjusted = orOne(adjusted)
		significant = own.Beyond(0) && adjusted <= discoveryRate
	}
	e.Typical, e.Own = shown(est, shownInterval), shown(est, own)
	e.Total = shown(all.Columns[i], totalInterval)
	e.Verdict, e.Reason = judge(est, shownInterval, significant, c.metric.better, c.margin)
	if h := shownInterval.Half(); !math.IsInf(h, 0) && !math.IsNaN(h) {
		e.Detectable = math.Expm1(stat.MDE(h, 0.8))
	}
	if e.Verdict == record.Undecided {
		e.Needed = c.needed(est)
	}
	c.intermittent(e, l)
	if c.invalid != "" {
		e.Verdict, e.Reason, e.Needed = record.Invalid, c.invalid, 0
	}
}

// needed is how many more seconds would decide an effect of this size.
func (c *compared) needed(e stat.Estimate) float64 {
	n := stat.Needed(e, c.level(), neededHalf(e.Mean, c.margin))
	if n <= e.N || e.N == 0 {
		return 0
	}
	return c.seconds * float64(n-e.N) / float64(e.N)
}

// intermittent marks a loss that part of the windows have and the typical
// effect does not show: mean and trimmed mean differ by more than their noise.
func (c *compared) intermittent(e *record.Effect, l line) {
	if c.metric.quantile != 0 || e.Typical == nil || e.Total == nil || l.base != c.load.Baseline {
		return
	}
	d := stat.Disagreement(l.p.d, trim)
	if !d.Known() || !(d.PValue() < 0.01) || math.Abs(d.Mean) < 0.2*math.Log1p(c.margin) {
		return
	}
	typical := math.Log(e.Typical.Ratio)
	// Trimmed by a quarter, so that up to a quarter of slow blocks do not widen
	// what counts as noise; for normal differences about 1.1 SD.
	noise := 3 * stat.Trimmed(l.p.d, 0.25).SE * math.Sqrt(float64(len(l.p.d)))
	limit := math.Copysign(noise, -float64(c.metric.better))
	centred := make([]float64, len(l.p.d))
	for i, x := range l.p.d {
		centred[i] = x - typical
	}
	e.Intermittent, e.Slow = true, finite(stat.Share(centred, limit))
}

func orOne(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return p
}
