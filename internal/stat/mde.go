package stat

// MDE is the smallest true effect that a two-sided 95 % interval of half-width
// half excludes 0 for with the given power: half*(z(0.975)+z(power))/z(0.975),
// thus 1.43 half at 80 % and 1.65 half at 90 % (Bloom 1995, Eval. Rev. 19,
// p. 547). Unit of half.
func MDE(half, power float64) float64 {
	z := NormalQuantile(0.975)
	return half * (z + NormalQuantile(power)) / z
}
