package stat

import "math"

// Difference is the estimate of a - b where the two come from independent data:
// variances add, and the degrees of freedom of their sum are those of Welch and
// Satterthwaite,
//
//	(va + vb)^2 / (va^2/dfa + vb^2/dfb),  v = SE^2
//
// (Satterthwaite 1946, Biometrics Bull. 2, p. 110; Welch 1947, Biometrika 34,
// p. 28). Not known when either is not.
func Difference(a, b Estimate) Estimate {
	d := Estimate{Mean: a.Mean - b.Mean, SE: math.NaN(), N: a.N + b.N}
	if !a.Known() || !b.Known() {
		return d
	}
	va, vb := a.SE*a.SE, b.SE*b.SE
	d.SE = math.Sqrt(va + vb)
	// In shares of the sum, so that tiny variances do not underflow.
	sa, sb := va/(va+vb), vb/(va+vb)
	d.DF = 1 / (sa*sa/a.DF + sb*sb/b.DF)
	return d
}
