package stat

import "math"

// twoWay is a weighted least-squares fit of block + arm in every group of blocks
// (intra-block analysis: Yates 1940, Ann. Eugenics 10, p. 317).
type twoWay struct {
	information [][][]float64 // by group: information matrix of the arms, a graph's Laplacian
	inverse     [][][]float64 // its Moore-Penrose inverse
	arm         [][]float64   // by group: effects, summing to 0 over connected arms
	residual    []float64     // by window
}

// fit is the fit of y with weights w (nil: all 1). A weight must be positive.
func (l *layout) fit(g grouping, y, w []float64) twoWay {
	t := twoWay{residual: make([]float64, len(y)), arm: make([][]float64, g.n)}
	right := rectangle(g.n, l.arms)
	for range g.n {
		t.information = append(t.information, rectangle(l.arms, l.arms))
	}
	for b, k := range g.of {
		l.normal(b, y, w, t.information[k], right[k])
	}
	for k := range g.n {
		mirror(t.information[k])
		inverse := laplacianInverse(t.information[k], g.component[k])
		t.inverse = append(t.inverse, inverse)
		t.arm[k] = times(inverse, right[k])
	}
	for b, k := range g.of {
		l.residuals(b, y, w, t.arm[k], t.residual)
	}
	return t
}

// normal adds block b to the normal equations: diag(w) - w w'/sum(w) to information,
// of which mirror later fills the lower triangle, and w (y - mean) to right.
func (l *layout) normal(b int, y, w []float64, information [][]float64, right []float64) {
	from, to := l.from[b], l.from[b+1]
	mean, sum := l.centre(b, y, w, nil)
	arm := l.arm[from:to]
	if w == nil {
		share := 1 / sum
		for i, a := range arm {
			row := information[a]
			row[a]++
			right[a] += y[from+i] - mean
			for _, c := range arm[i:] { // arms of a block are in order
				row[c] -= share
			}
		}
		return
	}
	w = w[from:to]
	for i, a := range arm {
		row := information[a]
		row[a] += w[i]
		right[a] += w[i] * (y[from+i] - mean)
		share := w[i] / sum
		for j := i; j < len(arm); j++ {
			row[arm[j]] -= share * w[j]
		}
	}
}

// mirror fills the lower triangle of a symmetric matrix.
func mirror(m [][]float64) {
	for i := range m {
		for j := range i {
			m[i][j] = m[j][i]
		}
	}
}

// centre is the weighted mean of y less the arms' effects (nil: none) in block b.
func (l *layout) centre(b int, y, w, arm []float64) (mean, sum float64) {
	from, to := l.from[b], l.from[b+1]
	for i, x := range y[from:to] {
		if arm != nil {
			x -= arm[l.arm[from+i]]
		}
		wi := 1.0
		if w != nil {
			wi = w[from+i]
		}
		mean, sum = mean+wi*x, sum+wi
	}
	return mean / sum, sum
}

func (l *layout) residuals(b int, y, w, arm, out []float64) {
	mean, _ := l.centre(b, y, w, arm)
	for i := l.from[b]; i < l.from[b+1]; i++ {
		out[i] = y[i] - arm[l.arm[i]] - mean
	}
}

// laplacianInverse is the Moore-Penrose inverse of a Laplacian whose components
// are given: with J averaging within components and s any scale, (N + sJ)^-1 -
// J/s (Rao and Mitra 1971, Generalized Inverse of Matrices, section 10.2).
func laplacianInverse(n [][]float64, component []int) [][]float64 {
	shifted, members := rectangle(len(n), len(n)), sizes(component)
	scale := ground(shifted, n, component, members)
	decompose(shifted)
	inv := choleskyInverse(shifted)
	for i := range inv {
		for j := range inv[i] {
			if component[i] == component[j] {
				inv[i][j] -= 1 / (scale * members[component[i]])
			}
		}
	}
	return inv
}

// ground writes the lower triangle of n + sJ, and returns s: the mean of the
// diagonal. members are the sizes of the components.
func ground(shifted, n [][]float64, component []int, members []float64) (scale float64) {
	for i := range n {
		scale += n[i][i] / float64(len(n))
	}
	if !(scale > 0) {
		scale = 1
	}
	for i := range n {
		share := scale / members[component[i]]
		for j, x := range n[i][:i+1] {
			if component[i] == component[j] {
				x += share
			}
			shifted[i][j] = x
		}
	}
	return scale
}

// sizes counts the members of each component.
func sizes(component []int) []float64 {
	n := make([]float64, len(component))
	for _, c := range component {
		n[c]++
	}
	return n
}

// decompose replaces the lower triangle of m by that of L with L L' = m (Cholesky),
// and returns ln det m. A pivot that rounding made 0 or negative becomes a very small one.
func decompose(m [][]float64) (logDet float64) {
	det := logProduct{scale: 1}
	for i, row := range m {
		diagonal := row[i]
		for j := range i {
			row[j] = (row[j] - dot(row[:j], m[j])) / m[j][j]
		}
		pivot := math.Max(diagonal-dot(row[:i], row), 1e-13*math.Abs(diagonal)+1e-300)
		row[i] = math.Sqrt(pivot)
		det.times(pivot)
	}
	return det.log()
}

// solve solves L L' x = b in place of b, after decompose.
func solve(lower [][]float64, x []float64) {
	for i, row := range lower {
		x[i] = (x[i] - dot(row[:i], x[:i])) / row[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		row := lower[i]
		x[i] /= row[i]
		for k := range i {
			x[k] -= row[k] * x[i]
		}
	}
}

// choleskyInverse is the inverse of L L', after decompose.
func choleskyInverse(lower [][]float64) [][]float64 {
	inv := rectangle(len(lower), len(lower))
	for i := range inv {
		inv[i][i] = 1
		solve(lower, inv[i])
	}
	return inv
}

func times(m [][]float64, x []float64) []float64 {
	y := make([]float64, len(m))
	for i := range m {
		y[i] = dot(m[i], x)
	}
	return y
}

// quadratic is x'my.
func quadratic(x []float64, m [][]float64, y []float64) float64 { return dot(x, times(m, y)) }

// logProduct is the logarithm of a product, with few logarithms taken.
type logProduct struct{ scale, logs float64 }

func (p *logProduct) times(x float64) {
	if !(x > 1e-100 && x < 1e100) {
		p.logs += math.Log(x)
		return
	}
	if p.scale *= x; !(p.scale > 1e-150 && p.scale < 1e150) {
		p.logs, p.scale = p.logs+math.Log(p.scale), 1
	}
}

func (p logProduct) log() float64 { return p.logs + math.Log(p.scale) }
