package analysis

import (
	"cmp"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// asked are the arms that are compared with the baseline, in groups whose intervals
// hold together: the question, and then the others, which are judged only where it
// differs. So nothing is found in more than 5 % of the runs where there is nothing to
// find, and the question has an interval as narrow as if it were alone.
func (t *table) asked(f *fits) [][]string {
	var rest []string
	question := t.question(f)
	for _, a := range t.arms {
		if a != t.load.Baseline && a != question && !t.arm(a).Twin {
			rest = append(rest, a)
		}
	}
	var out [][]string
	if question != "" {
		out = append(out, []string{question})
	}
	if len(rest) > 0 {
		out = append(out, rest)
	}
	return out
}

// question is the arm of the plan that is asked about; empty where it was given up, so
// that it is in less than half of the launches, and in a metric that it has no interval
// in: what cannot be found to differ must not keep the others from being judged. Nothing
// of that looks at how large anything is.
func (t *table) question(f *fits) string {
	q := t.load.Question
	if q == "" || 2*t.launchesOf(q) < t.launches() || t.whyNot(f, q, t.load.Baseline) != "" {
		return ""
	}
	if !f.typical.Contrast(t.contrast(f.typical, q, t.load.Baseline)).Known() {
		return ""
	}
	return q
}

// launchesOf is in how many launches an arm has a window that counts.
func (t *table) launchesOf(arm string) int {
	seen := map[int]bool{}
	for i := range t.rows {
		if t.at(&t.rows[i], arm) != nil {
			seen[t.rows[i].launch] = true
		}
	}
	return len(seen)
}

// with is the group of an arm, and its place there.
func (t *table) with(f *fits, arm string) (group []string, at int) {
	for _, g := range t.asked(f) {
		if at = slices.Index(g, arm); at >= 0 {
			return g, at
		}
	}
	return nil, -1
}

// against are the contrasts of arms with the control.
func (t *table) against(f *stat.Fit, arms []string) (cs [][]float64) {
	for _, a := range arms {
		cs = append(cs, t.contrast(f, a, t.load.Baseline))
	}
	return cs
}

// closed says that what is judged after the question is not judged: the question is not
// shown to differ, with what dropped windows may hide.
func (c *compared) closed(effects []record.Effect) bool {
	question := c.question(c.fits)
	at := slices.IndexFunc(effects, func(e record.Effect) bool { return e.Arm == question })
	if c.questions == 0 || at < 0 {
		return false
	}
	e := effects[at]
	shown := cmp.Or(e.Bound, e.Typical)
	return e.Verdict == record.Invalid || shown == nil || shown.Low <= 1 && shown.High >= 1
}

// gate leaves undecided what would be called a cost or a gain. That something is
// negligible is shown by its own interval alone.
func (c *compared) gate(effects []record.Effect) {
	if !c.shut {
		return
	}
	question := c.question(c.fits)
	for i := range effects {
		if e := &effects[i]; (e.Arm != question || e.Baseline != c.load.Baseline) && (e.Verdict == record.Cost || e.Verdict == record.Gain) {
			e.Verdict, e.Unjudged = record.Undecided, true
			e.Reason = "not judged, as " + question + " was not found to differ from " + c.load.Baseline
		}
	}
}
