package stat

import "math"

// betaInc is the regularised incomplete beta function I_x(a,b), with y = 1-x
// passed beside x because one of them is often too close to 1 to be subtracted.
// Continued fraction of DLMF 8.17.22, by Lentz' method (Thompson and Barnett
// 1986, J. Comput. Phys. 64, p. 490).
func betaInc(a, b, x, y float64) float64 {
	switch {
	case math.IsNaN(a + b + x + y):
		return math.NaN()
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	case x > (a+1)/(a+b+2): // not by calling itself: at the border both sides may be beyond it
		return 1 - betaBelow(b, a, y, x)
	}
	return betaBelow(a, b, x, y)
}

// betaBelow is betaInc where the fraction converges fast.
func betaBelow(a, b, x, y float64) float64 {
	front := math.Exp(a*logOf(x, y) + b*logOf(y, x) - logBeta(a, b))
	return math.Min(1, front*betaFraction(a, b, x)/a)
}

// logOf is ln(x) computed from whichever of x and 1-x is smaller.
func logOf(x, complement float64) float64 {
	if complement < 0.5 {
		return math.Log1p(-complement)
	}
	return math.Log(x)
}

// betaFraction evaluates the continued fraction of betaInc; it converges in
// about sqrt(max(a,b)) steps on x < (a+1)/(a+b+2).
func betaFraction(a, b, x float64) float64 {
	const tiny, eps, maxSteps = 1e-300, 1e-16, 100000
	c, d := 1.0, 1/nonZero(1-(a+b)*x/(a+1), tiny)
	h := d
	for m := 1.0; m < maxSteps; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonZero(1+even*d, tiny)
		c = nonZero(1+even/c, tiny)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonZero(1+odd*d, tiny)
		c = nonZero(1+odd/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < eps {
			break
		}
	}
	return h
}

func nonZero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// logBeta is ln B(a,b). For a large argument the difference of two log gammas
// would cancel, so Stirling's remainders are subtracted instead (Didonato and
// Morris 1992, ACM TOMS 18, algorithm 708, function algdiv).
func logBeta(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	lb, _ := math.Lgamma(b)
	if a < 20 {
		la, _ := math.Lgamma(a)
		lab, _ := math.Lgamma(a + b)
		return la + lb - lab
	}
	return lb - (a+b-0.5)*math.Log1p(b/a) - b*math.Log(a) + b + stirling(a) - stirling(a+b)
}

// stirling is ln Gamma(x) - [(x-1/2) ln x - x + ln(2 pi)/2] for x >= 20
// (Abramowitz and Stegun 1964, 6.1.41).
func stirling(x float64) float64 {
	r := 1 / (x * x)
	return (1.0/12 - r*(1.0/360-r*(1.0/1260-r*(1.0/1680-r/1188)))) / x
}
