package analysis

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// trim is the share of blocks left out at each end for the typical effect.
const trim = 0.10

// pseudo is the pseudo-values of a log ratio of one arm over the baseline, one
// per unit (Tukey 1958). Their mean is the estimate and their scatter its error,
// for any estimator; and the pseudo-values of a step are those of the upper rung
// less those of the lower, so that steps add up to the total by construction.
type pseudo []float64

// blocks is the log ratios of one metric of an arm over the baseline, per row.
func (t *table) blocks(arm string, m metric) (d []float64, unit []int) {
	for _, r := range t.rows {
		w, base := r.windows[arm], r.windows[t.load.Baseline]
		if w == nil || base == nil {
			continue
		}
		if x := stat.LogRatio(m.one(w), m.one(base)); !math.IsNaN(x) {
			d, unit = append(d, x), append(unit, r.unit)
		}
	}
	return d, unit
}

// overBlocks is the pseudo-values, by unit, of an estimator of block
// differences whose pseudo-values by block are p (in the order of unit). Each
// unit weighs as its blocks do.
func (t *table) overBlocks(p []float64, unit []int) pseudo {
	out := make(pseudo, t.units)
	present := map[int]bool{}
	for i, u := range unit[:len(p)] {
		present[u] = true
		out[u] += p[i]
	}
	for u := range out {
		out[u] *= float64(len(present)) / float64(len(p))
		if !present[u] {
			out[u] = math.NaN()
		}
	}
	return out
}

// trimmed is the pseudo-values by block of the 10 % trimmed mean, from its
// influence: the jackknife's are wrong where leaving one out changes the number
// trimmed.
func trimmed(d []float64) []float64 { return stat.PseudoTrimmed(d, trim) }

// pseudoValues is one value per unit; NaN for a unit that is not present.
func pseudoValues(present []bool, of func(skip int) float64) pseudo {
	n := 0.0
	for _, p := range present {
		if p {
			n++
		}
	}
	all := of(-1)
	out := make(pseudo, len(present))
	for u, p := range present {
		out[u] = math.NaN()
		if p && n > 1 {
			out[u] = n*all - (n-1)*of(u)
		}
	}
	return out
}

// less is the pseudo-values of a step from lower to p.
func (p pseudo) less(lower pseudo) pseudo {
	out := make(pseudo, len(p))
	for i := range p {
		out[i] = p[i] - lower[i]
	}
	return out
}

// known are the values that there are.
func (p pseudo) known() []float64 {
	var out []float64
	for _, x := range p {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

// pair is the typical and the total pseudo-values of a metric of an arm; why
// says why there are none.
type pair struct {
	typical, total pseudo
	why            string
	// d is the block differences behind them, for what looks at single blocks.
	d []float64
}

// pairs computes the pseudo-values of every metric of every arm but the
// baseline.
func (t *table) pairs() map[string]map[string]pair {
	out := map[string]map[string]pair{}
	pools := map[string]*pooled{}
	for _, a := range t.arms {
		pools[a] = pool(t, a)
	}
	for _, name := range t.load.Metrics {
		m, ok := metricOf(t.load, name)
		if !ok {
			continue
		}
		out[name] = map[string]pair{}
		for _, a := range t.arms {
			if a != t.load.Baseline {
				out[name][a] = t.pair(a, m, pools[a], pools[t.load.Baseline])
			}
		}
	}
	return out
}

func (t *table) pair(arm string, m metric, own, base *pooled) pair {
	d, unit := t.blocks(arm, m)
	if len(d) == 0 {
		return pair{why: t.whyNone(arm, m)}
	}
	if m.quantile == 0 {
		return pair{
			typical: t.overBlocks(trimmed(d), unit),
			total:   t.overBlocks(d, unit),
			d:       d,
		}
	}
	beyond := float64(min(own.total, base.total)) * (1 - m.quantile)
	if beyond < tail {
		return pair{why: "too few operations beyond the quantile"}
	}
	p := pair{d: d, total: t.overPools(own, base, m.quantile)}
	p.typical = p.total
	if beyond/float64(len(d)) >= tailWindow {
		p.typical = t.overBlocks(trimmed(d), unit)
	}
	return p
}

// overPools is the pseudo-values of the log ratio of a quantile of the pooled
// histograms.
func (t *table) overPools(own, base *pooled, q float64) pseudo {
	present := make([]bool, t.units)
	for u := range present {
		present[u] = len(own.units[u]) > 0 && len(base.units[u]) > 0
	}
	scratch := make([]uint64, record.Buckets)
	qs := []float64{q}
	return pseudoValues(present, func(skip int) float64 {
		a := own.quantiles(qs, skip, scratch)[0]
		return stat.LogRatio(a, base.quantiles(qs, skip, scratch)[0])
	})
}

func (t *table) whyNone(arm string, m metric) string {
	ws := t.windowsOf(arm)
	if len(ws) == 0 {
		return "no window of this arm counts"
	}
	if m.name == "cpu_per_op" {
		return "no CPU time: " + ws[0].Probes[CPUMetric].Reason()
	}
	if v, ok := ws[0].Values[m.name]; ok {
		if x, known := v.Get(); known {
			return fmt.Sprintf("%g is not positive: there is no ratio", x)
		}
		return v.Reason()
	}
	return "no operation was measured"
}
