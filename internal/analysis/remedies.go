package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
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

// Remedies compares the arms with the arm that lost: one result for each arm, in their order.
func Remedies(r *record.Result, ask Remedied) ([]record.RemedyResult, error) {
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
		table: t, fits: t.fit(m, t.pools()), judged: 1, margin: r.Plan.Margin,
		losses: t.losses(), unequal: r.Manifest.Unequal, modes: modes(t),
	}
	return c.remedies(ask), nil
}

// remedies are the results of Remedies.
func (c *compared) remedies(ask Remedied) []record.RemedyResult {
	var pairs []pair
	for _, arm := range ask.Arms {
		pairs = append(pairs, pair{arm, ask.Lost})
	}
	g := isolationGroup{table: c.table, unprotected: ask.Lost, beside: append([]string{ask.Lost}, ask.Arms...), neighbour: neighbourOf(c.load, c.arm(ask.Lost))}
	work, twin := g.work(), c.differing()
	out := make([]record.RemedyResult, len(pairs))
	for i, x := range c.judgeAll(pairs) {
		out[i] = record.RemedyResult{Gained: x.Typical, Launches: x.Generations, Answer: saysOf(x, c.Better)}
		if c.whyNot(c.fits, x.Arm, ask.Baseline) == "" {
			to := c.contrast(c.typical, x.Arm, ask.Baseline)
			out[i].Left = shown(c.typical.Contrast(to), c.typical.Interval(to, 1-c.alpha))
			out[i].Regained = c.regained(to, ask)
		}
		if g.neighbour.Name != "" {
			out[i].Kept = work.kept(i+1, 1-c.alpha)
		}
		if twin != nil && !arrange.Outgrows(x, *twin) {
			out[i].Answer = record.Says{Word: record.SaysInvalid, Reason: messages.In(messages.English).Text("reason.twin", "effect", quantity.Interval(twin.Typical))}
		}
	}
	return out
}

// regained is the part of the loss that an arm regains, given its contrast with the baseline; nil where no
// loss is shown.
func (c *compared) regained(to []float64, ask Remedied) *record.Share {
	if c.whyNot(c.fits, ask.Lost, ask.Baseline) != "" {
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
func (c *compared) differing() *record.Effect {
	twin := c.twin()
	if twin == "" || c.Name != c.load.Primary {
		return nil
	}
	if x := c.judgeTwin(twin); arrange.Moved(x) {
		return &x
	}
	return nil
}

// saysOf is the verdict of an effect as a row of an answer has it.
func saysOf(x record.Effect, better int) record.Says {
	switch {
	case x.Verdict == record.Invalid:
		return record.Says{Word: record.SaysInvalid, Reason: x.Reason}
	case x.Typical == nil:
		return record.Says{Word: record.SaysUndecided, Reason: x.Reason, Seconds: x.Needed}
	}
	loss, gain := 1-x.Typical.Low, x.Typical.High-1
	if better < 0 {
		loss, gain = gain, loss
	}
	switch x.Verdict {
	case record.Cost:
		return record.Says{Word: record.SaysSlower}
	case record.Gain:
		return record.Says{Word: record.SaysFaster}
	case record.Negligible:
		return record.Says{Word: record.SaysNoDifference, Bound: max(loss, gain, 0)}
	case record.NoLoss:
		return record.Says{Word: record.SaysNoLoss, Bound: max(loss, 0)}
	}
	return record.Says{Word: record.SaysUndecided, Reason: x.Reason, Seconds: finite(math.Max(x.Needed, 0))}
}
