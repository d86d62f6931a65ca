package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Family is intervals that hold together: all contain the truth with the
// probability level. A contrast that is not known gets the whole line and costs the
// others nothing.
func (f *Fit) Family(cs [][]float64, level float64) []Interval {
	alone := f.Alone(cs, level)
	out := make([]Interval, len(cs))
	for i, c := range cs {
		out[i] = f.Interval(c, alone)
	}
	return out
}

// FamilyPValues are the p-values of the contrasts adjusted for the family: the interval of
// one in Family at level 1-p just touches 0. NaN where it is not known.
func (f *Fit) FamilyPValues(cs [][]float64) []float64 {
	joint := f.together(cs)
	out := make([]float64, len(cs))
	for i, c := range cs {
		out[i] = joint.any(f.PValue(c))
	}
	return out
}

// FamilyPValue is the one of contrast i alone.
func (f *Fit) FamilyPValue(cs [][]float64, i int) float64 {
	return f.together(cs).any(f.PValue(cs[i]))
}

// loadings describe how the contrasts of a family depend on each other: x_i =
// b_i control + sqrt(1 - b_i^2) own, in standard deviations; correlations b_i b_j.
type loadings []float64

// together finds the loadings of the contrasts that are known. Arms against one
// control share it (Dunnett 1955, JASA 50, p. 1096); of any other contrasts no
// correlation is used, which is on the safe side for normals (Sidak 1967, JASA
// 62, p. 626).
func (f *Fit) together(cs [][]float64) loadings {
	var known [][]float64
	for _, c := range cs {
		if f.estimable(c) {
			known = append(known, c)
		}
	}
	b := make(loadings, len(known))
	if len(known) < 2 || !sharedControl(known) {
		return b
	}
	common, pairs := 0.0, 0.0
	for i, c := range known {
		for _, d := range known[:i] {
			common += f.covariance(c, d)
			pairs++
		}
	}
	for i, c := range known {
		share := common / pairs / f.covariance(c, c)
		b[i] = math.Sqrt(math.Max(0, math.Min(share, mostShared)))
	}
	return b
}

// mostShared is the most of a contrast's variance that is taken for the control's.
const mostShared = 0.9

// covariance of two contrasts: that of the windows, or of the launches where these vary more.
func (f *Fit) covariance(c, d []float64) float64 {
	if f.between.variance > 0 {
		return quadratic(c, f.between.gain, d)
	}
	return quadratic(c, f.window, d)
}

// sharedControl tells whether any two contrasts overlap alike and with the same
// sign, as arms against one control do.
func sharedControl(cs [][]float64) bool {
	first := floats.Dot(cs[0], cs[1])
	for i := range cs {
		for j := range i {
			if d := floats.Dot(cs[i], cs[j]); !(d > 0) || math.Abs(d-first) > 1e-9*first {
				return false
			}
		}
	}
	return true
}

// any is the probability that at least one of the family has a p-value of its own
// up to p where nothing differs: over the control x,
//
//	1 - Int phi(x) prod_i [Phi((z - b_i x)/s_i) - Phi((-z - b_i x)/s_i)] dx
//
// with s_i = sqrt(1 - b_i^2), by the trapezoidal rule: the integrand is smooth and
// vanishes at both ends, so that it converges faster than any power of the step.
func (b loadings) any(p float64) float64 {
	switch {
	case len(b) < 2 || p >= 1:
		return math.Min(p, 1)
	case slices.Max(b) == 0:
		return -math.Expm1(float64(len(b)) * math.Log1p(-p))
	}
	const step, end = 0.25, 8.5
	z := -normalQuantile(p / 2)
	sum := 0.5 * b.someBeyond(z, 0)
	for x := step; x < end; x += step {
		sum += math.Exp(-x*x/2) * b.someBeyond(z, x)
	}
	return math.Min(1, 2*step*sum/math.Sqrt(2*math.Pi))
}

// someBeyond is P(some |x_i| > z) given the control x.
func (b loadings) someBeyond(z, x float64) float64 {
	inside := 0.0 // logarithm of the product
	for _, load := range b {
		s := math.Sqrt(1 - load*load)
		inside += math.Log1p(-normalCDF((-z-load*x)/s) - normalCDF((-z+load*x)/s))
	}
	return -math.Expm1(inside)
}

// each is the error of one that makes the error of any alpha.
func (b loadings) each(alpha float64) float64 {
	if len(b) < 2 || !(alpha > 0 && alpha < 1) {
		return alpha
	}
	return math.Exp(root(math.Log(alpha/float64(len(b))/2), math.Log(alpha), func(logP float64) float64 {
		return b.any(math.Exp(logP))/alpha - 1
	}))
}

// root finds the root of an increasing f between lo and hi (Ridders 1979, IEEE Trans.
// Circuits Syst. 26, p. 979); lo if f is not negative there.
func root(lo, hi float64, f func(float64) float64) float64 {
	flo, fhi := f(lo), f(hi)
	if flo >= 0 {
		return lo
	}
	for range 60 {
		mid := (lo + hi) / 2
		fmid := f(mid)
		x := mid - (mid-lo)*fmid/math.Sqrt(fmid*fmid-flo*fhi)
		fx := f(x)
		if math.Abs(fx) < 1e-11 || hi-lo < 1e-11 {
			return x
		}
		for _, p := range [][2]float64{{mid, fmid}, {x, fx}} {
			if p[1] < 0 && p[0] > lo {
				lo, flo = p[0], p[1]
			} else if p[1] >= 0 && p[0] < hi {
				hi, fhi = p[0], p[1]
			}
		}
	}
	return (lo + hi) / 2
}

// BenjaminiHochberg returns the p-values adjusted for the false discovery rate:
// rejecting those <= q keeps the expected share of false rejections below q for
// independent or positively dependent tests (Benjamini and Hochberg 1995, JRSS B
// 57, p. 293). A NaN stays NaN and counts as a test that found nothing.
func BenjaminiHochberg(p []float64) []float64 {
	out, sorted, order := slices.Clone(p), slices.Clone(p), make([]int, len(p))
	for i, x := range sorted {
		if math.IsNaN(x) {
			sorted[i] = math.Inf(1)
		}
	}
	floats.Argsort(sorted, order)
	least, m := 1.0, float64(len(p))
	for r := len(order) - 1; r >= 0; r-- {
		if i := order[r]; !math.IsNaN(p[i]) {
			least = math.Min(least, p[i]*(m/float64(r+1)))
			out[i] = least
		}
	}
	return out
}
