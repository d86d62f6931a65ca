package stat

import "math"

// errors are estimates of a contrast's variance; the interval uses the one that makes it widest. The first is from the
// windows within launches, and right where launches do not differ. The second is from the table of launches and arms of
// all arms, and right where launches differ. The third is from the launches of the contrast's own arms, where one of
// these arms differs from the rest.
type errors []oneError

// oneError is a variance with its degrees of freedom.
type oneError struct{ variance, df float64 }

// errorsOf returns nothing for a contrast whose error is not known.
func (f *Fit) errorsOf(c []float64) errors {
	if !f.estimable(c) {
		return nil
	}
	variance, df := f.ofWindows(c)
	if !(variance > 0) || !finite(variance) || !(df > 0) {
		return nil
	}
	out := errors{{variance, df}}
	if f.between.df > 0 {
		out = append(out, oneError{quadratic(c, f.between.gain, c), f.between.df})
	}
	if variance, df, ok := f.ofOwnLaunches(c); ok && variance > 0 {
		out = append(out, oneError{variance, df})
	}
	return out
}

// half is the half-width at the two-sided error alpha, and which error it is that of.
func (es errors) half(alpha float64) (half float64, of oneError) {
	for _, e := range es {
		if x := StudentQuantile(1-alpha/2, e.df) * math.Sqrt(e.variance); x > half {
			half, of = x, e
		}
	}
	return half, of
}

// outside is the two-sided p-value of a deviation: half(outside(x)) is x.
func (es errors) outside(x float64) float64 {
	p := 0.0
	for _, e := range es {
		p = math.Max(p, 2*studentTail(x/math.Sqrt(e.variance), e.df))
	}
	return math.Min(p, 1)
}

// Contrast estimates sum_a c_a alpha_a; c must sum to 0. SE and DF are those of the error
// that makes the 95 % interval widest. N is the number of launches, or of blocks after a
// single launch. The estimate is unknown for arms that no block, or chain of blocks,
// connects.
func (f *Fit) Contrast(c []float64) Estimate {
	n := f.Launches
	if n < 2 {
		n = f.Blocks
	}
	out := unknown(math.NaN(), n)
	if f.estimable(c) {
		out.Mean = f.mean(c)
	}
	if es := f.errorsOf(c); es != nil {
		_, e := es.half(0.05)
		out.SE, out.DF = math.Sqrt(e.variance), e.df
	}
	return out
}

// Interval is the interval of one contrast alone; the whole line when it is not known.
func (f *Fit) Interval(c []float64, level float64) Interval {
	alpha := 1 - level
	if es := f.errorsOf(c); es != nil && alpha > 0 && alpha < 1 {
		half, _ := es.half(alpha)
		mean := f.mean(c)
		return Interval{mean - half, mean + half}
	}
	return Interval{math.Inf(-1), math.Inf(1)}
}

// PValue is the two-sided p-value of a contrast alone: its Interval at level 1-p
// just touches 0. NaN when it is not known.
func (f *Fit) PValue(c []float64) float64 {
	es := f.errorsOf(c)
	if es == nil {
		return math.NaN()
	}
	return es.outside(math.Abs(f.mean(c)))
}

// mean is c'alpha over the arms whose coefficient is not 0; Alpha of the others may be NaN.
func (f *Fit) mean(c []float64) float64 {
	sum := 0.0
	for a, x := range c {
		if x != 0 {
			sum += x * f.Alpha[a]
		}
	}
	return sum
}

// estimable tells whether c is a contrast (it sums to 0) within each set of connected arms.
func (f *Fit) estimable(c []float64) bool {
	if !f.Known || len(c) != f.layout.arms {
		return false
	}
	sum := make([]float64, len(c))
	size := 0.0
	for a, x := range c {
		if x != 0 && f.layout.count[a] == 0 {
			return false
		}
		sum[f.layout.all.component[0][a]] += x
		size += math.Abs(x)
	}
	for _, s := range sum {
		if math.Abs(s) > 1e-9*size {
			return false
		}
	}
	return size > 0 && !math.IsInf(size, 0)
}
