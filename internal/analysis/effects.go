package analysis

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// trim is the share of blocks that a trimmed mean leaves out at each end.
const trim = 0.10

// compared is one metric of one workload in all arms.
type compared struct {
	*table
	*fits
	judged  int // number of metrics that are judged together; 0: this one is not judged
	margin  float64
	losses  *losses // windows that were dropped
	unequal []record.Unequal
	modes   []record.ArmModes // of all arms
	noise   stat.Interval     // of the twin, around 0
	shut    bool              // the question is not shown to differ: see gate
}

// pair is an arm and the arm that it is compared with.
type pair struct{ arm, base string }

// effects compares every arm with the control. The twin is judged alone, as it tests the
// method and not the arms.
func (c *compared) effects() (effects, twin []record.Effect) {
	c.noise = stat.Interval{}
	if t := c.twin(); t != "" {
		twin = []record.Effect{c.judgeTwin(t)}
		if own := c.twinInterval(c.fits); own.Half() <= widest {
			half := max(own.Hi, -own.Lo) // around 0: the twin's own deviation is noise, too
			c.noise = stat.Interval{Lo: -half, Hi: half}
		}
	}
	groups := c.groups
	if c.judged == 0 { // one false discovery rate for all
		groups = [][]string{slices.Concat(groups...)}
	}
	for _, group := range groups {
		var pairs []pair
		for _, a := range group {
			pairs = append(pairs, pair{a, c.load.Baseline})
		}
		effects = append(effects, c.judgeAll(pairs)...)
	}
	c.shut = c.closed(effects)
	c.gate(effects)
	place := func(a, b record.Effect) int { return cmp.Compare(c.index[a.Arm], c.index[b.Arm]) }
	slices.SortStableFunc(effects, place)
	return effects, twin
}

// steps compares every rung with the one below. It is called after effects, which decides
// whether the steps are judged. The remainder is the step to the real container.
func (c *compared) steps() (steps, remainder []record.Effect) {
	var pairs []pair
	for _, a := range c.arms {
		if below := c.arm(a).Step; below != "" {
			pairs = append(pairs, pair{a, below})
		}
	}
	steps = c.judgeAll(pairs)
	c.gate(steps)
	for _, e := range steps {
		if c.arm(e.Arm).Remainder {
			remainder = append(remainder, e)
		}
	}
	return steps, remainder
}

// options compares the arms that name another arm with that arm. It is called after effects.
func (c *compared) options() []record.Effect {
	var pairs []pair
	for _, a := range c.arms {
		if other := c.arm(a).Against; other != "" {
			pairs = append(pairs, pair{a, other})
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	options := c.judgeAll(pairs)
	for i, p := range pairs {
		options[i].NetworkAlone = networkAlone(c.arm(p.arm), c.arm(p.base))
	}
	c.gate(options)
	return options
}

// networkAlone reports whether two arms are defined alike but for their network.
func networkAlone(a, b record.Arm) bool {
	if a.Network == b.Network {
		return false
	}
	for _, x := range []*record.Arm{&a, &b} {
		x.Name, x.Title, x.Against, x.Network, x.Shares = "", "", "", "", ""
	}
	return reflect.DeepEqual(a, b)
}

// judgeAll estimates pairs and judges them together.
func (c *compared) judgeAll(pairs []pair) []record.Effect {
	typical, total := make([][]float64, len(pairs)), make([][]float64, len(pairs))
	for i, p := range pairs {
		typical[i], total[i] = c.contrast(c.typical, p.arm, p.base), c.contrast(c.total, p.arm, p.base)
	}
	s := standard{judged: c.judged > 0, better: c.Better, margin: c.margin, noise: c.noise}
	all, proofs := ofContrasts(c.total, total, c.alpha, c.judged), make([]proof, len(pairs))
	for i, p := range pairs {
		proofs[i] = c.proof(p)
	}
	rulings := ofContrasts(c.typical, typical, c.alpha, c.judged).judge(all, proofs, s)
	alone := 1 - c.alpha
	if c.judged > 0 {
		alone = c.typical.Alone(typical, 1-c.alpha, c.judged)
	}
	out := make([]record.Effect, len(pairs))
	for i, p := range pairs {
		out[i] = c.blank(p)
		if why := c.whyNot(c.fits, p.arm, p.base); why != "" {
			out[i].Reason = why
			continue
		}
		rulings[i].fill(&out[i])
		out[i].Total = shown(all.est[i], rulings[i].total.shown)
		c.bound(&out[i], rulings[i], p)
		withhold(&out[i])
		c.intermittent(&out[i], p)
		if out[i].Verdict == record.Undecided {
			out[i].Needed = c.toDecide(rulings[i], typical[i], alone)
		}
	}
	return out
}

// proof is the amount of data behind the effect of a pair.
func (c *compared) proof(p pair) proof {
	out := proof{launches: min(c.launchesOf(p.arm), c.launchesOf(p.base))}
	if c.Name == metric.Throughput.Name || c.says(c.Name) {
		out.windows = min(len(c.windowsOf(p.arm)), len(c.windowsOf(p.base)))
	}
	out.twoSpeeds = slices.ContainsFunc(c.modes, func(m record.ArmModes) bool {
		return m.Modes != nil && (m.Arm == p.arm || m.Arm == p.base)
	})
	return out
}

// toDecide returns how many more seconds would probably decide an effect of this size: the longest of the
// times for the width, for the launches that a verdict needs, for the windows that rule out rare
// stalls, and for the total of an arm with two speeds. For judged metrics the fit foretells the width; for the others it shrinks with the root of time.
func (c *compared) toDecide(r ruling, contrast []float64, level float64) float64 {
	half := neededHalf(r.est.Mean, c.margin)
	width := rootOfTime(r.shown.Half(), half, c.seconds)
	if c.judged > 0 {
		width = c.needed(c.typical, contrast, level, half)
	}
	stalls := 0.0
	if r.inner.Inside(math.Log1p(c.margin)) && r.windowsForStalls() > r.proof.windows {
		stalls = c.seconds * (float64(r.windowsForStalls())/float64(r.proof.windows) - 1)
	}
	total := 0.0
	if r.reason == twoSpeedsOpen {
		shown := r.total.shown
		total = rootOfTime(shown.Half(), neededHalf((shown.Lo+shown.Hi)/2, c.margin), c.seconds)
	}
	return max(width, stalls, total, metric.MoreLaunches(r.proof.launches, c.launches(), c.seconds))
}

// withhold removes all numbers from an effect whose interval is too wide to be shown:
// programs would read a mean or a p-value without its interval as a result.
func withhold(e *record.Effect) {
	if e.Typical == nil {
		e.Total, e.Own, e.Bound, e.P, e.Adjusted, e.Detectable = nil, nil, nil, nil, nil, 0
	}
}

func (c *compared) blank(p pair) record.Effect {
	return record.Effect{
		Unequal:  c.unequalTo(p.arm, p.base),
		Workload: c.load.Name, Metric: c.Name, Arm: p.arm, Baseline: p.base,
		Verdict: record.Undecided, Exploratory: c.judged == 0,
		Blocks: len(c.blocksOf(c.fits, p.arm)), Generations: c.proof(p).launches,
	}
}

// bound widens the interval by what dropped windows may hide. An effect whose verdict does
// not survive that is invalid.
func (c *compared) bound(e *record.Effect, r ruling, p pair) {
	by, text := c.losses.bound(c.fits, p.arm, p.base)
	if text == "" {
		return
	}
	v, wide := r.widened(by)
	e.Bound = shown(r.est, wide)
	if e.Verdict != record.Undecided && v != e.Verdict {
		e.Verdict, e.Reason = record.Invalid, text
	}
}

// intermittent marks a loss in only a part of the windows, which the typical effect does
// not show: mean and trimmed mean differ by more than their noise.
func (c *compared) intermittent(e *record.Effect, p pair) {
	if c.Quantile != 0 || e.Typical == nil || e.Total == nil || p.base != c.load.Baseline {
		return
	}
	blocks := c.blocksOf(c.fits, p.arm)
	d := stat.Disagreement(blocks, trim)
	if !d.Known() || !(d.PValue() < 0.01) || math.Abs(d.Mean) < 0.2*math.Log1p(c.margin) {
		return
	}
	typical := math.Log(e.Typical.Ratio)
	// Trimmed by a quarter, so that slow blocks up to a quarter do not count as noise. The
	// limit is 3.3 standard deviations of normal differences.
	noise := 3 * stat.Trimmed(blocks, 0.25).SE * math.Sqrt(float64(len(blocks)))
	limit := math.Copysign(noise, -float64(c.Better))
	for i := range blocks {
		blocks[i] -= typical
	}
	e.Intermittent, e.Slow = true, finite(stat.Share(blocks, limit))
}

// parts splits changes of throughput into CPU time and operations per CPU time:
// log throughput = log(CPU seconds per second) + log(operations per CPU second).
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

// mostOf names the part that is shown to change, the larger one of two; empty where no
// change is shown.
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

// neededHalf is the half-width that would decide an effect of this size: an interval that
// excludes 0 or lies inside the margin, whichever needs less.
func neededHalf(mean, margin float64) float64 {
	delta := math.Log1p(margin)
	size := math.Abs(mean)
	return nearly * max(size, delta-size, 0.3*delta)
}
