package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// twoWay is a weighted least-squares fit of block + arm in every group of blocks
// (intra-block analysis: Yates 1940, Ann. Eugenics 10, p. 317). It can be repeated
// with other values and weights.
type twoWay struct {
	*layout
	groups      grouping
	information [][][]float64 // by group: information matrix of the arms, a graph's Laplacian
	effect      [][]float64   // by group: of the arms, summing to 0 over connected ones
	residual    []float64     // by window
	lower       [][]float64   // buffer of solve
}

func (l *layout) twoWay(groups grouping) *twoWay {
	t := &twoWay{
		layout: l, groups: groups, effect: rectangle(groups.n, l.arms),
		residual: make([]float64, len(l.y)), lower: rectangle(l.arms, l.arms),
	}
	for range groups.n {
		t.information = append(t.information, rectangle(l.arms, l.arms))
	}
	return t
}

// unweighted is the fit of y with equal weights.
func (l *layout) unweighted(groups grouping, y []float64) *twoWay {
	t := l.twoWay(groups)
	t.fit(y, slices.Repeat([]float64{1}, len(y)))
	return t
}

// fit fits y with weights w, which must be positive.
func (t *twoWay) fit(y, w []float64) {
	for k, effect := range t.effect {
		clear(effect)
		for _, row := range t.information[k] {
			clear(row)
		}
	}
	for b, k := range t.groups.of {
		t.normal(b, y, w, t.information[k], t.effect[k])
	}
	for k, effect := range t.effect {
		ground(t.lower, t.information[k], t.groups.component[k])
		decompose(t.lower)
		solve(t.lower, effect)
	}
	for b, k := range t.groups.of {
		from, to := t.from[b], t.from[b+1]
		for i := from; i < to; i++ {
			t.residual[i] = y[i] - t.effect[k][t.arm[i]]
		}
		mean, _ := centre(t.residual[from:to], w[from:to])
		floats.AddConst(-mean, t.residual[from:to])
	}
}

// normal adds block b to the normal equations: diag(w) - w w'/sum(w) to information,
// and w (y - mean) to right.
func (l *layout) normal(b int, y, w []float64, information [][]float64, right []float64) {
	from, to := l.from[b], l.from[b+1]
	arm, y, w := l.arm[from:to], y[from:to], w[from:to]
	mean, sum := centre(y, w)
	for i, a := range arm {
		row := information[a]
		row[a] += w[i]
		right[a] += w[i] * (y[i] - mean)
		share := w[i] / sum
		for j, c := range arm {
			row[c] -= share * w[j]
		}
	}
}

// centre is the weighted mean of x, and the sum of the weights.
func centre(x, w []float64) (mean, sum float64) {
	sum = sumOf(w)
	return floats.Dot(x, w) / sum, sum
}

// laplacianInverse is the Moore-Penrose inverse of a Laplacian whose components
// are given: with J averaging within components and s any scale, (N + sJ)^-1 -
// J/s (Rao and Mitra 1971, Generalized Inverse of Matrices, section 10.2).
func laplacianInverse(n [][]float64, component []int) [][]float64 {
	lower, inverse := rectangle(len(n), len(n)), rectangle(len(n), len(n))
	scale := ground(lower, n, component)
	decompose(lower)
	members := sizes(component)
	for i, row := range inverse {
		row[i] = 1
		solve(lower, row)
		for j := range row {
			if component[i] == component[j] {
				row[j] -= 1 / (scale * members[component[i]])
			}
		}
	}
	return inverse
}

// ground writes the lower triangle of n + sJ, and returns s: the mean of the diagonal.
func ground(lower, n [][]float64, component []int) (scale float64) {
	for i := range n {
		scale += n[i][i] / float64(len(n))
	}
	if !(scale > 0) {
		scale = 1
	}
	members := sizes(component)
	for i := range n {
		share := scale / members[component[i]]
		for j, x := range n[i][:i+1] {
			if component[i] == component[j] {
				x += share
			}
			lower[i][j] = x
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

// decompose replaces the lower triangle of m by that of L with L L' = m (Cholesky).
// A pivot that rounding made 0 or negative becomes a very small one.
func decompose(m [][]float64) {
	for i, row := range m {
		diagonal := row[i]
		for j := range i {
			row[j] = (row[j] - floats.Dot(row[:j], m[j][:j])) / m[j][j]
		}
		pivot := diagonal - floats.Dot(row[:i], row[:i])
		row[i] = math.Sqrt(math.Max(pivot, 1e-13*math.Abs(diagonal)+1e-300))
	}
}

// solve solves L L' x = b in place of b, after decompose.
func solve(lower [][]float64, x []float64) {
	for i, row := range lower {
		x[i] = (x[i] - floats.Dot(row[:i], x[:i])) / row[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= lower[i][i]
		floats.AddScaled(x[:i], -x[i], lower[i][:i])
	}
}

func times(m [][]float64, x []float64) []float64 {
	y := make([]float64, len(m))
	for i := range m {
		y[i] = floats.Dot(m[i], x)
	}
	return y
}

// quadratic is x'my.
func quadratic(x []float64, m [][]float64, y []float64) float64 { return floats.Dot(x, times(m, y)) }
