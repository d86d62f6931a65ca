package analysis

import (
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// comparisons says which arms are compared with the baseline in one metric, and in which
// order they are judged. The intervals of a group hold together. The question is a group of
// its own and comes first; the other arms are judged only where the question is found to
// differ. So at most 5 % of the loads without a difference find one, and the interval of the
// question is as narrow as if it were alone (docs/method.md).
type comparisons struct {
	// question is the arm that the plan asks about (record.Workload.Question); empty where
	// the plan has none, or where the analysis withdrew it in this metric.
	question string
	groups   [][]string
}

// compare decides what is asked in a metric, once: every other place reads the result. The
// question of the plan is withdrawn where it has windows in less than half of the launches,
// or no interval in this metric: a question that cannot be found to differ must not keep the
// other arms from being judged. The size of an effect plays no role.
func (t *table) compare(f *fits) (c comparisons) {
	if q := t.load.Question; q != "" && t.asked(t.launchesOf(q)) && t.whyNot(f, q, t.load.Baseline).IsZero() &&
		f.typical.Contrast(t.contrast(f.typical, q, t.load.Baseline)).Known() {
		c.question, c.groups = q, [][]string{{q}}
	}
	var others []string
	for _, a := range t.arms {
		if a != t.load.Baseline && a != c.question && !t.arm(a).Twin {
			others = append(others, a)
		}
	}
	if len(others) > 0 {
		c.groups = append(c.groups, others)
	}
	return c
}

// asked reports whether an arm has windows in so many launches that it can be the question: in half of
// them, and in as many as a verdict needs where others have these.
func (t *table) asked(launches int) bool {
	return 2*launches >= t.launches() && launches >= min(t.launches(), metric.LeastLaunches)
}

// groupOf returns the group of an arm and the arm's place in it; -1 where the arm is not
// compared.
func (c comparisons) groupOf(arm string) (group []string, at int) {
	for _, g := range c.groups {
		if at = slices.Index(g, arm); at >= 0 {
			return g, at
		}
	}
	return nil, -1
}

// launchesOf is the number of launches in which an arm has a window that counts.
func (t *table) launchesOf(arm string) int {
	seen := map[int]bool{}
	for i := range t.rows {
		if t.at(&t.rows[i], arm) != nil {
			seen[t.rows[i].launch] = true
		}
	}
	return len(seen)
}

// against returns the contrasts of arms with the control.
func (t *table) against(f *stat.Fit, arms []string) (cs [][]float64) {
	for _, a := range arms {
		cs = append(cs, t.contrast(f, a, t.load.Baseline))
	}
	return cs
}

// closed reports whether the question is judged and not shown to differ: the other arms are not judged then.
func (c *compared) closed(effects []record.Effect) bool {
	at := slices.IndexFunc(effects, func(e record.Effect) bool { return e.Arm == c.question })
	if c.judged == 0 || at < 0 {
		return false
	}
	e := effects[at]
	return !e.Verdict.Differs()
}
