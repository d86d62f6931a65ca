package stat

import "math"

// leastSquares regresses y on the given vectors, absorbed degrees of freedom
// having been taken out of all of them before. It orthogonalises by modified
// Gram-Schmidt with y as the last vector (Bjorck 1967, BIT 7, p. 1); the vectors
// are overwritten. ok is false when they are dependent or leave no residual
// degrees of freedom.
func leastSquares(vectors [][]float64, y []float64, absorbed int) (coefficients []Estimate, ok bool) {
	p, n := len(vectors), len(y)
	df := n - absorbed - p
	if p == 0 || df < 1 {
		return nil, false
	}
	r, ok := triangular(vectors)
	if !ok {
		return nil, false
	}
	size := magnitude(y)
	rhs := make([]float64, p)
	for i, q := range vectors {
		rhs[i] = project(q, y)
	}
	s2 := dot(y, y) / float64(df)
	inv := invertUpper(r)
	for i := range p {
		variance := s2 * dot(inv[i], inv[i])
		coefficients = append(coefficients, withVariance(dot(inv[i], rhs), variance, float64(df), n, size))
	}
	return coefficients, true
}

// triangular replaces the vectors by an orthonormal basis and returns R with
// vectors = Q R; ok is false when one depends on those before it.
func triangular(vectors [][]float64) (r [][]float64, ok bool) {
	p := len(vectors)
	r = square(p)
	for i, v := range vectors {
		before := math.Sqrt(dot(v, v))
		for j := range i {
			r[j][i] = project(vectors[j], v)
		}
		r[i][i] = math.Sqrt(dot(v, v))
		if !(r[i][i] > 1e-9*before) {
			return nil, false
		}
		for k := range v {
			v[k] /= r[i][i]
		}
	}
	return r, true
}

// project removes the unit vector q from v and returns its coefficient.
func project(q, v []float64) float64 {
	c := dot(q, v)
	for k := range v {
		v[k] -= c * q[k]
	}
	return c
}

// invertUpper inverts an upper triangular matrix by back substitution.
func invertUpper(r [][]float64) [][]float64 {
	p := len(r)
	inv := square(p)
	for j := range p {
		inv[j][j] = 1 / r[j][j]
		for i := j - 1; i >= 0; i-- {
			sum := 0.0
			for k := i + 1; k <= j; k++ {
				sum += r[i][k] * inv[k][j]
			}
			inv[i][j] = -sum / r[i][i]
		}
	}
	return inv
}

func square(p int) [][]float64 {
	m := make([][]float64, p)
	for i := range m {
		m[i] = make([]float64, p)
	}
	return m
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
