package analysis

import (
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// judgeTwin compares the twin with the baseline. In the primary metric it may differ, which makes the
// load's verdicts doubtful; the twins of a run together show that in at most 5 % of the runs. In another
// metric a difference is a property of the metric's noise and no verdict on an arm.
func (c *compared) judgeTwin(twin string) record.Effect {
	p := pair{twin, c.load.Baseline}
	e := c.blank(p)
	if why := c.whyNot(c.fits, p.arm, p.base); !why.IsZero() {
		e.Reason = why
		return e
	}
	alpha := c.alpha
	if c.share.all > 0 {
		alpha /= float64(max(c.twins, 1)) // Bonferroni over the loads of the run
	}
	typical, total := [][]float64{c.contrast(c.typical, p.arm, p.base)}, [][]float64{c.contrast(c.total, p.arm, p.base)}
	s := standard{judged: true, better: c.Better, margin: c.margin, cpu: c.Name == metric.CPUPerOp.Name}
	all := ofContrasts(c.total, total, alpha, 1)
	r := ofContrasts(c.typical, typical, alpha, 1).judge(all, []proof{c.proof(p)}, s)[0]
	e = c.effectOf(p, r, all.est[0])
	e.Bound, e.AtMost = nil, 0 // the noise floor is the far end of the typical interval, which is printed
	if c.Name != c.load.Primary && e.Verdict.Differs() {
		e.Verdict, e.Reason, e.Noisy = record.Undecided, twinIsNoise, true
	}
	if e.Verdict == record.Undecided && !e.Noisy {
		e.Needed = c.toDecide(r, c.typical, typical[0], 1-alpha)
	}
	return e
}

// twinInterval is the twin's 95 % interval in a metric, in logarithms: the noise floor. It is not
// corrected for the loads of the run.
func (t *table) twinInterval(f *fits) stat.Interval {
	twin := t.twin()
	if twin == "" || !t.whyNot(f, twin, t.load.Baseline).IsZero() {
		return stat.Estimate{}.At(1 - t.alpha)
	}
	return f.typical.Interval(t.contrast(f.typical, twin, t.load.Baseline), 1-t.alpha)
}
