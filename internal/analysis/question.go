package analysis

import (
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// asked are the arms that are compared with the baseline, in groups whose intervals
// hold together: the question of the plan, and then the others, which are judged only
// where it differs. So nothing is found in more than 5 % of the runs where there is
// nothing to find, and the question has an interval as narrow as if it were alone.
func (t *table) asked() [][]string {
	var rest []string
	question := t.question()
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

// question is the arm of the plan that is asked about; empty where it has no window.
func (t *table) question() string {
	if q := t.load.Question; q != "" && len(t.windowsOf(q)) > 0 {
		return q
	}
	return ""
}

// with is the group of an arm, and its place there.
func (t *table) with(arm string) (group []string, at int) {
	for _, g := range t.asked() {
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

// gate leaves undecided what is judged only where the question was found to differ.
func (c *compared) gate(effects []record.Effect) {
	question := c.question()
	if question == "" || c.questions == 0 {
		return
	}
	x := c.typical.Family(c.against(c.typical, []string{question}), 1-c.alpha, c.questions)[0]
	if x.Beyond(0) {
		return
	}
	for i := range effects {
		if e := &effects[i]; (e.Arm != question || e.Baseline != c.load.Baseline) && (e.Verdict == record.Cost || e.Verdict == record.Gain) {
			e.Verdict, e.Reason = record.Undecided, "not judged, as "+question+" was not found to differ from "+c.load.Baseline
		}
	}
}
