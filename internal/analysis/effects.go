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
	share       share // the part of the error that this metric has; the zero value: it is not judged
	margin      float64
	losses      *losses // windows that were dropped
	unequal     []record.Unequal
	modes       []record.ArmModes // of all arms
	noise       stat.Interval     // of the twin, around 0
	twinDiffers *record.Ratio     // the twin's effect where it differs, which only the primary metric's does; else nil
	forRemedies bool              // the twin counts for pairs without the baseline, too
	shut        record.Said       // why the arms that are not the question are not judged; see closed
}

// pair is an arm and the arm that it is compared with.
type pair struct{ arm, base string }

// effects compares every arm with the control. The twin is judged alone, as it tests the
// method and not the arms.
func (c *compared) effects() (effects, twin []record.Effect) {
	c.noise, c.shut = stat.Interval{}, record.Said{}
	if t := c.twin(); t != "" {
		twin = []record.Effect{c.judgeTwin(t)}
		if x := twin[0]; x.Verdict.Differs() {
			c.twinDiffers = x.Typical
		}
		if own := c.twinInterval(c.fits); own.Half() <= widest {
			half := max(own.Hi, -own.Lo) // around 0: the twin's own deviation is noise, too
			c.noise = stat.Interval{Lo: -half, Hi: half}
		}
	}
	groups := c.groups
	if c.share.all == 0 { // one false discovery rate for all
		groups = [][]string{slices.Concat(groups...)}
	}
	for _, group := range groups {
		var pairs []pair
		for _, a := range group {
			pairs = append(pairs, pair{a, c.load.Baseline})
		}
		effects = append(effects, c.judgeAll(pairs)...)
		if c.closed(effects) { // the question is the first group
			c.shut = notJudged(c.question, c.load.Baseline)
		}
	}
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
	return options
}

// networkAlone reports whether two arms are defined alike but for their network.
func networkAlone(a, b record.Arm) bool {
	if a.Network == b.Network {
		return false
	}
	for _, x := range []*record.Arm{&a, &b} {
		x.Name, x.Title, x.Against, x.Network, x.Shares = "", record.Said{}, "", "", ""
	}
	return reflect.DeepEqual(a, b)
}

// judgeAll estimates pairs and judges them together.
func (c *compared) judgeAll(pairs []pair) []record.Effect {
	typical, total := make([][]float64, len(pairs)), make([][]float64, len(pairs))
	fit, totals := c.typical, c.total
	if len(pairs) == 1 {
		fit, totals = c.between(c.fits, pairs[0].arm, pairs[0].base)
	}
	for i, p := range pairs {
		typical[i], total[i] = c.contrast(fit, p.arm, p.base), c.contrast(totals, p.arm, p.base)
	}
	s := standard{judged: c.share.all > 0, better: c.Better, margin: c.margin, cpu: c.Name == metric.CPUPerOp.Name, noise: c.noise, shut: c.shut}
	if len(pairs) > 0 && (c.forRemedies || pairs[0].base == c.load.Baseline) {
		s.twin = c.twinDiffers
	}
	proofs := make([]proof, len(pairs))
	for i, p := range pairs {
		proofs[i] = c.proof(p)
	}
	type judgement struct {
		rulings []ruling
		totals  family
		alone   float64
	}
	with := map[float64]judgement{} // by share
	out := make([]record.Effect, len(pairs))
	for i, p := range pairs {
		share := cmp.Or(c.shareOf(p), 1)
		j, ok := with[share]
		if !ok {
			j.totals = ofContrasts(totals, total, c.alpha, share)
			j.rulings = ofContrasts(fit, typical, c.alpha, share).judge(j.totals, proofs, s)
			j.alone = fit.Alone(typical, 1-share*c.alpha)
			with[share] = j
		}
		out[i] = c.effectOf(p, j.rulings[i], j.totals.est[i])
		if out[i].Verdict == record.Undecided && j.rulings[i].verdict == record.Undecided {
			out[i].Needed = c.toDecide(j.rulings[i], fit, typical[i], j.alone)
		}
	}
	return out
}

// shareOf is the share of the error for a pair.
func (c *compared) shareOf(p pair) float64 {
	if p.base == c.load.Baseline {
		return c.share.arm(p.arm)
	}
	return c.share.all
}

// effectOf writes a ruling down as the effect of a pair.
func (c *compared) effectOf(p pair, r ruling, total stat.Estimate) record.Effect {
	e := c.blank(p)
	if why := c.whyNot(c.fits, p.arm, p.base); !why.IsZero() {
		e.Reason = why
		return e
	}
	r.fill(&e, total)
	c.intermittent(&e, p)
	return e
}

// proof is the amount of data behind the effect of a pair.
func (c *compared) proof(p pair) proof {
	out := proof{launches: min(c.launchesOf(p.arm), c.launchesOf(p.base))}
	if c.Name == metric.Throughput.Name || c.says(c.Name) {
		out.windows = min(len(c.windowsOf(p.arm)), len(c.windowsOf(p.base)))
	}
	if out.alike = c.alike(p); c.idle(p.base) {
		out.invalid = idleBaseline
	}
	out.dropped, out.why = c.losses.bound(c.fits, p.arm, p.base)
	out.twoSpeeds = slices.ContainsFunc(c.modes, func(m record.ArmModes) bool {
		return m.Modes != nil && (m.Arm == p.arm || m.Arm == p.base)
	})
	return out
}

// toDecide returns how many more seconds would probably decide an effect of this size: the longest of the
// times for the width, for the launches that a verdict needs, for the windows that rule out rare
// stalls, and for the total of an arm with two speeds. For judged metrics the fit foretells the width; for the others it shrinks with the root of time.
func (c *compared) toDecide(r ruling, fit *stat.Fit, contrast []float64, level float64) float64 {
	half := neededHalf(r.est.Mean, c.margin)
	width := rootOfTime(r.shown.Half(), half, c.seconds)
	if c.share.all > 0 {
		width = c.needed(fit, contrast, level, half)
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

func (c *compared) blank(p pair) record.Effect {
	return record.Effect{
		Unequal:  c.unequalTo(p.arm, p.base),
		Workload: c.load.Name, Metric: c.Name, Arm: p.arm, Baseline: p.base,
		Verdict: record.Undecided, Exploratory: c.share.all == 0,
		Blocks: len(c.blocksOf(c.fits, p.arm)), Generations: c.proof(p).launches,
	}
}

// idle reports whether a baseline (with its twin, where it is the load's) finished no operation in half of its windows
// or more, in a metric that is a ratio of operations.
func (c *compared) idle(base string) bool {
	if c.Name != metric.Throughput.Name && byOperation[c.Name] == "" {
		return false
	}
	windows := c.windowsOf(base)
	if t := c.twin(); t != "" && base == c.load.Baseline {
		windows = slices.Concat(windows, c.windowsOf(t))
	}
	idle := 0
	for _, w := range windows {
		if w.ops == 0 {
			idle++
		}
	}
	return idle > 0 && 2*idle >= len(windows)
}

// leastAlike is the number of blocks from which equal ones are no chance.
const leastAlike = 4

// alike reports whether all blocks of a pair have the same ratio, but for so few that the fit clips them.
func (c *compared) alike(p pair) bool {
	if c.typical == nil || c.typical.Contrast(c.contrast(c.typical, p.arm, p.base)).Known() {
		return false
	}
	blocks := c.blocksOf(c.fits, p.arm)
	mid, same := stat.Median(blocks), 0
	for _, b := range blocks {
		if b == mid {
			same++
		}
	}
	return len(blocks) >= leastAlike && 10*same >= 9*len(blocks)
}

// intermittent marks a loss in only a part of the windows, which the typical effect does
// not show: mean and trimmed mean differ by more than their noise.
func (c *compared) intermittent(e *record.Effect, p pair) {
	if c.Quantile != 0 || e.Typical == nil || e.Total == nil || p.base != c.load.Baseline || c.fewInWindows(p.arm) || c.fewInWindows(p.base) {
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

// leastInWindow is the number of operations in a typical window from which windows of 0 are stalls. With fewer the
// logarithms of mere counts are so skewed that the mean and the trimmed mean differ.
const leastInWindow = 10

// fewInWindows reports whether the typical window of an arm has fewer than leastInWindow operations.
func (t *table) fewInWindows(arm string) bool {
	var ops []float64
	for i := range t.rows {
		if w := t.at(&t.rows[i], arm); w != nil {
			ops = append(ops, float64(w.ops))
		}
	}
	return stat.Median(ops) < leastInWindow
}

// parts splits changes of throughput into CPU time received and CPU time per operation:
// log throughput = log(CPU seconds per second) - log(CPU seconds per operation).
func (t *table) parts(effects []record.Effect, pools []*pooled) {
	var received *fits
	for i := range effects {
		e := &effects[i]
		if e.Metric != metric.Throughput.Name || e.Typical == nil {
			continue
		}
		at := slices.IndexFunc(effects, func(x record.Effect) bool {
			return x.Metric == metric.CPUPerOp.Name && x.Arm == e.Arm && x.Baseline == e.Baseline
		})
		if at < 0 || effects[at].Own == nil {
			continue
		}
		if received == nil {
			received = t.fit(t.received(), pools)
		}
		fit, _ := t.between(received, e.Arm, e.Baseline)
		c := t.contrast(fit, e.Arm, e.Baseline)
		cpu := shown(fit.Contrast(c), fit.Interval(c, 1-t.alpha))
		if cpu == nil {
			continue
		}
		own := *effects[at].Own
		e.Parts = &record.Parts{CPU: *cpu, PerOp: own, Most: mostOf(*cpu, own)}
	}
}

// mostOf names the part that is shown to change, the larger one of two; empty where no
// change is shown.
func mostOf(cpu, perOp record.Ratio) string {
	size := func(r record.Ratio) float64 {
		if r.Side() == 0 {
			return 0
		}
		return math.Abs(math.Log(r.Ratio))
	}
	switch a, b := size(cpu), size(perOp); {
	case a == 0 && b == 0:
		return ""
	case b >= a:
		return record.PartPerOp
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
