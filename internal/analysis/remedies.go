package analysis

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/analysis/answer"
	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// Remedied asks what arms with a remedy regain of the loss of an arm.
type Remedied struct {
	Workload, Metric string
	// Lost is the arm that lost against Baseline, which need not be the baseline of the record.
	Lost, Baseline string
	// Arms have the remedies. Their verdicts hold together: 5 % for the family.
	Arms []string
}

// Remedies compares the arms with the arm that lost: one result for each arm, in their order. e are the effects of
// the result: what they have is taken from them, because the same effect with another interval would confuse.
func Remedies(r *record.Result, e *record.Effects, ask Remedied) ([]record.RemedyResult, error) {
	at := slices.IndexFunc(r.Plan.Workloads, func(w record.Workload) bool { return w.Name == ask.Workload })
	if at < 0 {
		return nil, fmt.Errorf("%s: the plan has no workload %s", r.Dir, ask.Workload)
	}
	t := newTable(r.Plan.Workloads[at], r.Manifest.Host.CPUs)
	if err := r.Each(t.line); err != nil {
		return nil, err
	}
	t.finish()
	t.twins = 1
	m, ok := t.measureOf(ask.Metric)
	if !ok {
		return nil, fmt.Errorf("%s: workload %s has no metric %s", r.Dir, ask.Workload, ask.Metric)
	}
	c := compared{
		table: t, fits: t.fit(m, t.pools()), share: share{all: 1}, margin: r.Plan.Margin,
		losses: t.losses(), unequal: r.Manifest.Unequal, modes: modes(t, r.Plan.Margin), forRemedies: true,
	}
	return c.remedies(e, ask), nil
}

// remedies are the results of Remedies.
func (c *compared) remedies(e *record.Effects, ask Remedied) []record.RemedyResult {
	typical := func(arm string) *record.Ratio {
		for _, x := range e.Effects {
			if x.Workload == ask.Workload && x.Metric == ask.Metric && x.Arm == arm && x.Baseline == ask.Baseline {
				return x.Typical
			}
		}
		return nil
	}
	var pairs []pair
	for _, arm := range ask.Arms {
		pairs = append(pairs, pair{arm, ask.Lost})
	}
	g := isolationGroup{table: c.table, unprotected: ask.Lost, beside: append([]string{ask.Lost}, ask.Arms...), neighbour: neighbourOf(c.load, c.arm(ask.Lost))}
	work := g.work()
	c.twinDiffers = c.differing()
	out := make([]record.RemedyResult, len(pairs))
	for i, x := range c.judgeAll(pairs) {
		out[i] = record.RemedyResult{Gained: x.Typical, Left: typical(x.Arm), Lost: typical(ask.Lost), Launches: x.Generations, Answer: answer.Says(x)}
		if c.whyNot(c.fits, x.Arm, ask.Baseline).IsZero() {
			out[i].Regained = c.regained(c.contrast(c.typical, x.Arm, ask.Baseline), ask)
		}
		if g.neighbour.Name != "" {
			out[i].Kept = work.kept(i+1, 1-c.alpha)
		}
	}
	return out
}

// regained is the part of the loss that an arm regains, given its contrast with the baseline; nil where no
// loss is shown.
func (c *compared) regained(to []float64, ask Remedied) *record.Share {
	if !c.whyNot(c.fits, ask.Lost, ask.Baseline).IsZero() {
		return nil
	}
	whole := c.contrast(c.typical, ask.Lost, ask.Baseline)
	mean := c.typical.Contrast(whole).Mean
	if !c.typical.Interval(whole, 1-c.alpha).Beyond(0) || (mean > 0) == (c.Better > 0) {
		return nil
	}
	return regain(c.typical, to, whole, 1-c.alpha)
}

// differing is the effect of a twin that differs from the baseline; nil: it does not.
func (c *compared) differing() *record.Ratio {
	twin := c.twin()
	if twin == "" || c.Name != c.load.Primary {
		return nil
	}
	if x := c.judgeTwin(twin); arrange.Moved(x) {
		return x.Typical
	}
	return nil
}
