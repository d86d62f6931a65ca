package analysis

import (
	"math"
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
	if q := t.load.Question; q != "" && t.enough(t.launchesOf(q)) && t.whyNot(f, q, t.load.Baseline).IsZero() &&
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

// enough reports whether an arm has windows in so many launches that it can be the question: in half of
// them, and in as many as a verdict needs where others have these.
func (t *table) enough(launches int) bool {
	return 2*launches >= t.launches() && launches >= min(t.launches(), metric.LeastLaunches)
}

// With so many launches, and blocks that have the question, the question is estimated from its own arms: how the launches
// and windows of the layers scatter says nothing about it then. With fewer, the windows of all arms tell better what an
// outlier is.
const (
	ownLaunches = 8
	ownBlocks   = 100
)

// asked is the fit of the baseline, its twin and the question alone; nil: the question is estimated with all arms.
type asked struct{ typical, total *stat.Fit }

// alone returns the columns of asked; nil where there is no question, no other arm, or too little of it.
func (t *table) alone(f *fits) []int {
	q := f.question
	if q == "" || len(t.arms) <= len(t.control())+1 || t.launchesOf(q) < ownLaunches || len(t.blocksOf(f, q)) < ownBlocks {
		return nil
	}
	return append(t.control(), t.index[q])
}

// columns returns the windows of some arms.
func columns(w stat.Windows, arms []int) stat.Windows {
	out := stat.Windows{Launch: w.Launch, Control: w.Control}
	for _, row := range w.Y {
		y := slices.Repeat([]float64{math.NaN()}, len(row))
		for _, a := range arms {
			y[a] = row[a]
		}
		out.Y = append(out.Y, y)
	}
	return out
}

// between returns the fits in which an arm is compared with another one.
func (t *table) between(f *fits, arm, base string) (typical, total *stat.Fit) {
	if f.asked.typical != nil && arm == f.question && base == t.load.Baseline {
		return f.asked.typical, f.asked.total
	}
	return f.typical, f.total
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
	if c.share.all == 0 || at < 0 {
		return false
	}
	e := effects[at]
	return !e.Verdict.Differs()
}
