package stat

import "math"

// Dunnett's two-sided comparison of k columns with one control (Dunnett 1955,
// JASA 50, p. 1096; two-sided tables 1964, Biometrics 20, p. 482), for equal
// sizes and variances: T_i = (Z_i - Z_0)/(sqrt(2) S), any two with correlation
// 1/2, S^2 the pooled variance with df degrees of freedom. Conditionally on the
// control z and on s,
//
//	P(max|T_i| <= c) = E_s Int phi(z) [Phi(z+sqrt(2)cs) - Phi(z-sqrt(2)cs)]^k dz
//
// Both integrands are smooth and vanish at both ends (s on a log scale), so the
// trapezoidal rule converges faster than any power of the step.

// DunnettCDF is P(max_i |T_i| <= c) over k comparisons with one control; df may
// be any real > 0 or +Inf.
func DunnettCDF(c float64, k int, df float64) float64 {
	switch {
	case k < 1 || !(df > 0) || math.IsNaN(c):
		return math.NaN()
	case c <= 0:
		return 0
	case k == 1:
		return 1 - 2*studentTail(c, df)
	case df > hugeDF:
		return rangeToControl(c, k)
	}
	return overScale(df, func(s float64) float64 { return rangeToControl(c*s, k) })
}

// DunnettQuantile is the c with DunnettCDF(c, k, df) = level, for instance
// level 0.95: the simultaneous critical value of k intervals. It lies between
// the unadjusted and Bonferroni's t. Solved to about 1e-9.
func DunnettQuantile(level float64, k int, df float64) float64 {
	if k < 1 || !(df > 0 && level > 0 && level < 1) {
		return math.NaN()
	}
	lo := studentUpper((1-level)/2, df)
	if k == 1 {
		return lo
	}
	hi := studentUpper((1-level)/2/float64(k), df)
	return illinois(lo, hi, func(c float64) float64 { return DunnettCDF(c, k, df) - level })
}

// rangeToControl is the inner integral at c*s = a.
func rangeToControl(a float64, k int) float64 {
	const step, end = 0.25, 8.5
	a *= math.Sqrt2
	sum := 0.5 * controlTerm(0, a, k)
	for z := step; z < end; z += step {
		sum += controlTerm(z, a, k)
	}
	return math.Min(1, 2*step*sum)
}

func controlTerm(z, a float64, k int) float64 {
	p := 1 - NormalCDF(-z-a) - NormalCDF(z-a)
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * powInt(p, k)
}

func powInt(x float64, k int) float64 {
	y := 1.0
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// overScale is the expectation of f(S) where df*S^2 is chi-squared with df
// degrees of freedom. In u = ln s the density is proportional to
// exp(df (u - (exp(2u)-1)/2)), with its mode at 0 and curvature 2 df.
func overScale(df float64, f func(s float64) float64) float64 {
	const negligible = -30
	step := 0.3 / math.Sqrt(2*df)
	num, den := 0.0, 0.0
	add := func(u float64) bool {
		e := df * (u - math.Expm1(2*u)/2)
		w := math.Exp(e)
		num += w * f(math.Exp(u))
		den += w
		return e > negligible
	}
	add(0)
	for u := step; add(u); u += step {
	}
	for u := -step; add(u); u -= step {
	}
	return num / den
}

// illinois finds the root of an increasing f between lo and hi by regula falsi
// with the Illinois modification (Dowell and Jarratt 1971, BIT 11, p. 168).
func illinois(lo, hi float64, f func(float64) float64) float64 {
	flo, fhi := f(lo), f(hi)
	side := 0
	for range 60 {
		x := (lo*fhi - hi*flo) / (fhi - flo)
		fx := f(x)
		if math.Abs(fx) < 1e-11 || hi-lo < 1e-10*hi {
			return x
		}
		if fx < 0 {
			lo, flo = x, fx
			if side == -1 {
				fhi /= 2
			}
			side = -1
		} else {
			hi, fhi = x, fx
			if side == 1 {
				flo /= 2
			}
			side = 1
		}
	}
	return (lo + hi) / 2
}
