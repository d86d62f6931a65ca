package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// fits is the estimate of one metric in all arms. Effects are contrasts of one fit, so that
// the steps of a ladder add up to the whole.
type fits struct {
	measure
	comparisons
	typical, total *stat.Fit
	asked          asked
	why            []record.Said // by arm: the reason for no value; nothing where there is one
	// y is the logarithm of the metric by row and arm, NaN without one; throughput at the same
	// share of stolen CPU time (see granted), with the slope steal.
	y     [][]float64
	steal float64
}

// meanOf is the mean of the columns of a row that have a value.
func meanOf(row []float64, columns []int) float64 {
	sum, n := 0.0, 0.0
	for _, c := range columns {
		if !math.IsNaN(row[c]) {
			sum, n = sum+row[c], n+1
		}
	}
	return sum / n
}

// fit estimates a metric.
func (t *table) fit(m measure, pools []*pooled) *fits {
	f := &fits{measure: m, why: make([]record.Said, len(t.arms))}
	f.y = t.logs(m)
	for i, arm := range t.arms {
		if !some(f.y, i) {
			f.why[i] = t.whyNone(arm, m)
		}
	}
	f.y, f.steal = t.atSameSteal(m, f.y)
	total := t.linear(m, pools, f.why)
	typical, robust := total, false
	if m.parts != nil || t.tailed(m, pools) {
		typical, robust = stat.Windows{Y: f.y, Launch: t.launch(), Control: t.control()}, true
	}
	f.typical, f.total = stat.FitWindows(typical, robust), stat.FitWindows(total, false)
	f.comparisons = t.compare(f)
	if arms := t.alone(f); arms != nil {
		f.asked.typical, f.asked.total = stat.FitWindows(columns(typical, arms), robust), stat.FitWindows(columns(total, arms), false)
	}
	return f
}

// whyNot is the reason for which two arms cannot be compared in a metric; nothing where they
// can.
func (t *table) whyNot(f *fits, arm, base string) record.Said {
	for _, a := range []string{arm, base} {
		i, there := t.index[a]
		if !there { // a damaged plan names arms that it does not have
			return noArm(a)
		}
		switch {
		case !f.why[i].IsZero() && a != arm:
			return reasonOf(a, f.why[i])
		case !f.why[i].IsZero():
			return f.why[i]
		}
	}
	return record.Said{}
}

// launch returns the launch of every row.
func (t *table) launch() []int {
	out := make([]int, len(t.rows))
	for i := range t.rows {
		out[i] = t.rows[i].launch
	}
	return out
}

// logs returns the logarithms of a metric by row and arm.
func (t *table) logs(m measure) [][]float64 {
	return t.each(func(_ int, w *window) float64 { return m.log(w) })
}

// each applies a function to every window that counts; NaN for the others.
func (t *table) each(of func(arm int, w *window) float64) [][]float64 {
	out := make([][]float64, len(t.rows))
	flat := make([]float64, len(t.rows)*len(t.arms))
	for i := range t.rows {
		out[i], flat = flat[:len(t.arms):len(t.arms)], flat[len(t.arms):]
		for a, w := range t.rows[i].windows {
			if out[i][a] = math.NaN(); w != nil {
				out[i][a] = of(a, w)
			}
		}
	}
	return out
}

func some(y [][]float64, arm int) bool {
	for _, row := range y {
		if !math.IsNaN(row[arm]) {
			return true
		}
	}
	return false
}

// linear returns one value per window. Their mean over the windows of an arm is the logarithm
// of the arm's total: the ratio of sums, or a quantile of the pooled latencies.
func (t *table) linear(m measure, pools []*pooled, why []record.Said) stat.Windows {
	if m.parts != nil {
		return stat.Ratios{
			Over:   t.each(func(_ int, w *window) float64 { above, _ := m.parts(w); return above }),
			Under:  t.each(func(_ int, w *window) float64 { _, below := m.parts(w); return below }),
			Launch: t.launch(), Control: t.control(),
		}.Windows()
	}
	tails := stat.Tails{Q: m.Quantile, Launch: t.launch(), Control: t.control()}
	at := make([]float64, len(t.arms)) // nanoseconds
	for i, p := range pools {
		x, slope := p.near(m.Quantile)
		switch {
		case !why[i].IsZero():
		case math.IsNaN(slope):
			why[i] = fewBeyond
		case open(x):
			why[i] = beyondBuckets
		}
		at[i], tails.Log, tails.Slope = x*1e9, append(tails.Log, math.Log(x)), append(tails.Slope, slope)
	}
	tails.Count = t.each(func(arm int, w *window) float64 { return unless(why[arm], float64(w.timed)) })
	tails.Below = t.each(func(arm int, w *window) float64 { return w.latency.below(at[arm]) })
	return tails.Windows()
}

// unless returns x, or NaN where there is a reason for no value.
func unless(why record.Said, x float64) float64 {
	if !why.IsZero() {
		return math.NaN()
	}
	return x
}

// aside is the part of the operations on either side of a quantile from which the density at
// the quantile is estimated.
const aside = 0.05

// near returns the quantile q in seconds and the slope of its logarithm over q; NaN where too
// few operations lie beyond it.
func (p *pooled) near(q float64) (x, slope float64) {
	if float64(p.total)*min(q, 1-q) < tail {
		return math.NaN(), math.NaN()
	}
	h := min(aside, (1-q)/2, q/2)
	v := p.quantiles(q-h, q, q+h)
	return v[1], math.Log(v[2]/v[0]) / (2 * h)
}

// open reports whether a latency in seconds is in the last bucket of the histograms, which holds all longer ones, too.
func open(x float64) bool { return record.Bucket(int64(x*1e9)) == record.Buckets-1 }

// tailed reports whether single windows have enough operations beyond the quantile for a
// value of their own.
func (t *table) tailed(m measure, pools []*pooled) bool {
	for i, arm := range t.arms {
		n := float64(len(t.windowsOf(arm)))
		if n > 0 && float64(pools[i].total)*(1-m.Quantile) < tailWindow*n {
			return false
		}
	}
	return true
}

// pools returns the latencies of each arm.
func (t *table) pools() []*pooled {
	out := make([]*pooled, len(t.arms))
	for i, arm := range t.arms {
		out[i] = t.pool(arm)
	}
	return out
}

// contrast compares an arm with another; where base is the baseline, with the control, the
// mean of the baseline and its twin.
func (t *table) contrast(f *stat.Fit, arm, base string) []float64 {
	a, b := t.index[arm], t.index[base]
	switch {
	case base == t.load.Baseline && arm != base:
		return f.Against(a)
	case arm == t.load.Baseline && arm != base:
		c := f.Against(b)
		for i := range c {
			c[i] = -c[i]
		}
		return c
	}
	return f.Between(a, b)
}

// fitAll estimates every metric of the load.
func (t *table) fitAll(pools []*pooled) map[string]*fits {
	out := map[string]*fits{}
	for _, name := range t.metrics() {
		if m, ok := t.measureOf(name); ok {
			out[name] = t.fit(m, pools)
		}
	}
	return out
}

// blocksOf returns the log ratios of an arm over the control, by block; those of the twin are
// over the baseline.
func (t *table) blocksOf(f *fits, arm string) []float64 {
	control, i := t.control(), t.index[arm]
	if t.arm(arm).Twin {
		control = control[:1]
	}
	var out []float64
	for _, row := range f.y {
		if d := row[i] - meanOf(row, control); !math.IsNaN(d) {
			out = append(out, d)
		}
	}
	return out
}

// estimateOf turns an effect back into an estimate on the log scale.
func estimateOf(x record.Effect) stat.Estimate {
	if x.Typical == nil {
		return stat.Estimate{Mean: math.NaN(), SE: math.NaN()}
	}
	n := x.Generations
	if n < 2 {
		n = x.Blocks
	}
	e := stat.Estimate{Mean: math.Log(x.Typical.Ratio), SE: x.Typical.SE, DF: x.Typical.DF, N: n}
	if !(e.SE > 0) {
		e.SE = math.NaN()
	}
	return e
}
