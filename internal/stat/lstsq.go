package stat

// leastSquares regresses y on the given vectors, absorbed degrees of freedom
// having been taken out of all of them before, by the normal equations. ok is false
// when the vectors are dependent or leave no residual degrees of freedom.
func leastSquares(vectors [][]float64, y []float64, absorbed int) (coefficients []Estimate, ok bool) {
	const dependent = 1e-10 // of a vector's square, what is not in those before it
	p, n := len(vectors), len(y)
	df := n - absorbed - p
	if p == 0 || df < 1 {
		return nil, false
	}
	normal, right, squares := rectangle(p, p), make([]float64, p), make([]float64, p)
	for i, v := range vectors {
		right[i], squares[i] = dot(v, y), dot(v, v)
		for j := range i + 1 {
			normal[i][j] = dot(v, vectors[j])
		}
	}
	decompose(normal)
	for i := range normal {
		if pivot := normal[i][i]; !(pivot*pivot > dependent*squares[i]) {
			return nil, false
		}
	}
	solve(normal, right)
	rest := 0.0
	for k, v := range y {
		for i := range vectors {
			v -= right[i] * vectors[i][k]
		}
		rest += v * v
	}
	inverse := choleskyInverse(normal)
	for i := range p {
		variance := rest / float64(df) * inverse[i][i]
		coefficients = append(coefficients, withVariance(right[i], variance, float64(df), n, magnitude(y)))
	}
	return coefficients, true
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
