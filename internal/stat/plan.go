package stat

import "math"

// MDE is the smallest true effect that a two-sided 95 % interval of half-width
// half excludes 0 for with the given power: half*(z(0.975)+z(power))/z(0.975),
// thus 1.43 half at 80 % and 1.65 half at 90 % (Bloom 1995, Eval. Rev. 19,
// p. 547). Unit of half.
func MDE(half, power float64) float64 {
	z := NormalQuantile(0.975)
	return half * (z + NormalQuantile(power)) / z
}

// Needed predicts how many observations in all bring the half-width at the given
// level down to half, if the scatter stays as it is: the least n with
// t(df(n)) * s / sqrt(n) <= half, df growing by at most 1 with each (Stein 1945,
// Ann. Math. Stat. 16, p. 243, with s taken as known). Time needed is
// time so far * Needed / e.N. 0 when it cannot be predicted, as from one group.
func Needed(e Estimate, level, half float64) int {
	if !e.Known() || e.N < 2 || !(half > 0) {
		return 0
	}
	n := e.N
	enough := func(n int) bool { return scaled(e, n).At(level).Half() <= half }
	if enough(n) {
		return n
	}
	step := 1
	for ; !enough(n + step); step *= 2 {
		if step > math.MaxInt32 {
			return 0
		}
	}
	for lo := step / 2; step-lo > 1; {
		if mid := (lo + step) / 2; enough(n + mid) {
			step = mid
		} else {
			lo = mid
		}
	}
	return n + step
}

// scaled is what e would be with n observations of the same scatter.
func scaled(e Estimate, n int) Estimate {
	e.SE *= math.Sqrt(float64(e.N) / float64(n))
	each := math.Min(1, (e.DF+1)/float64(e.N)) // below 1 when trimmed
	e.DF += each * float64(n-e.N)
	e.N = n
	return e
}
