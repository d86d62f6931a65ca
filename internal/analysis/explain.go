package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Explanations of the rows of a price matrix by the probes. A rule applies only where the
// difference that it names is shown, from the same blocks and launches as the effects, and
// is large enough to matter.

// ruleContext is what a rule reads: one arm compared with another.
type ruleContext struct {
	group        *isolationGroup
	arm, against string
	// The arm is shown to be slower or faster in the primary metric, by the margin or more.
	slower, faster bool
	deltas         map[string]delta
}

// delta is one observation in both arms, per second of window or per operation.
type delta struct {
	arm, against float64
	more, less   bool // the arm is shown to have more or less
}

// rule is one kind of explanation. says returns an empty text where the probes do not
// support it. All rules for a pair of arms are tried.
type rule struct {
	name string
	// needs are the observations that the rule reads, which are its evidence. The rule is
	// skipped where one of them is missing.
	needs []string
	says  func(rc *ruleContext) record.Said
}

// explain applies the rules to the loss without isolation, and to every mechanism against
// the arm without isolation.
func (g isolationGroup) explain() []record.Explanation {
	out := []record.Explanation{}
	ask := func(arm, against string, rules []rule) {
		rc := g.context(arm, against)
		for _, r := range rules {
			if text := rc.ask(r); !text.IsZero() {
				out = append(out, record.Explanation{Arm: arm, Against: against, Rule: r.name, Text: text, Evidence: rc.cite(r.needs)})
			}
		}
	}
	ask(g.unprotected, g.alone[0], lossRules)
	for i, arm := range g.beside {
		switch {
		case i == 0:
			continue
		case g.classes:
			ask(arm, g.alone[i], lossRules)
			continue
		}
		ask(arm, g.unprotected, mechanismRules)
		ask(arm, g.alone[0], remainingRules)
	}
	return out
}

func (g isolationGroup) context(arm, against string) *ruleContext {
	rc := &ruleContext{group: &g, arm: arm, against: against, deltas: map[string]delta{}}
	if f := g.fits[g.load.Primary]; f != nil && g.whyNot(f, arm, against).IsZero() && arm != against {
		c := g.contrast(f.typical, arm, against)
		mean := f.typical.Contrast(c).Mean
		if f.typical.Interval(c, 1-g.alpha).Beyond(0) && math.Abs(mean) >= math.Log1p(g.judging.margin) {
			rc.faster = (mean > 0) == (f.Better > 0)
			rc.slower = !rc.faster
		}
	}
	return rc
}

func (rc *ruleContext) ask(r rule) record.Said {
	for _, name := range r.needs {
		if _, ok := rc.deltas[name]; ok {
			continue
		}
		x, ok := rc.group.delta(name, rc.arm, rc.against)
		if !ok {
			return record.Said{}
		}
		rc.deltas[name] = x
	}
	return r.says(rc)
}

func (rc *ruleContext) cite(names []string) []record.Evidence {
	var all []record.Evidence
	for _, n := range names {
		e := record.Evidence{Metric: n, Unit: observe.Unit(n), Per: "second", Arm: rc.deltas[n].arm, Against: rc.deltas[n].against}
		if probe, ok := observe.Cut(n); ok {
			e.Metric, e.Per = probe, "operation"
		}
		all = append(all, e)
	}
	return all
}

// delta compares an observation between two arms, block by block, with the error over
// launches, as for effects. It is not ok where no block has the observation in both arms.
func (g isolationGroup) delta(name, arm, against string) (d delta, ok bool) {
	sums := make([]float64, g.units)
	counts := make([]float64, g.units)
	n := 0.0
	for _, r := range g.rows {
		a, b := g.observed(g.at(&r, arm), name), g.observed(g.at(&r, against), name)
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		d.arm, d.against, n = d.arm+a, d.against+b, n+1
		sums[r.unit] += a - b
		counts[r.unit]++
	}
	if n == 0 {
		return d, false
	}
	d.arm, d.against = d.arm/n, d.against/n
	var means []float64
	for u := range sums {
		if counts[u] > 0 {
			means = append(means, sums[u]/counts[u])
		}
	}
	i := stat.Mean(means).At(1 - g.alpha)
	d.more, d.less = i.Lo > 0, i.Hi < 0
	return d, true
}
