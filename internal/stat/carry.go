package stat

import "math"

// Cell is one value of a randomised block design and what stood before it.
type Cell struct {
	Row    int // the block
	Column int
	Before int // the column measured just before, also across rows; negative for none
	Y      float64
}

// CarryOver estimates what a column does to the one measured after it: least
// squares of Y on row, column and predecessor, all as fixed effects (Williams
// 1949, Aust. J. Sci. Res. A 2, p. 149; Cochran and Cox 1957, section 4.6a).
// Element j is the change of Y after column j rather than after column 0, in the
// unit of Y; element 0 is 0 by definition. Randomisation makes these effects
// estimable and does not remove them. SE is NaN where the design cannot tell.
func CarryOver(cells []Cell, columns int) []Estimate {
	used := followers(cells)
	out := make([]Estimate, columns)
	for j := range out {
		out[j] = unknown(math.NaN(), len(used))
	}
	if columns == 0 {
		return out
	}
	out[0].Mean = 0
	design, of := dummies(used, columns)
	rows := centreRows(used, design)
	fit, ok := leastSquares(design[1:], design[0], rows)
	for i, j := range of {
		if j > 0 && ok {
			out[j] = fit[i]
		}
	}
	return out
}

// followers are the cells that have a predecessor.
func followers(cells []Cell) []Cell {
	var used []Cell
	for _, c := range cells {
		if c.Before >= 0 {
			used = append(used, c)
		}
	}
	return used
}

// dummies returns Y followed by an indicator for each column and each
// predecessor but 0 that occurs; of says for each indicator which predecessor it
// is, 0 for a column's.
func dummies(cells []Cell, columns int) (vectors [][]float64, of []int) {
	y := make([]float64, len(cells))
	for i, c := range cells {
		y[i] = c.Y
	}
	vectors = append(vectors, y)
	add := func(predecessor int, is func(Cell) bool) {
		v, any := make([]float64, len(cells)), false
		for i, c := range cells {
			if is(c) {
				v[i], any = 1, true
			}
		}
		if any {
			vectors, of = append(vectors, v), append(of, predecessor)
		}
	}
	for j := 1; j < columns; j++ {
		add(0, func(c Cell) bool { return c.Column == j })
		add(j, func(c Cell) bool { return c.Before == j })
	}
	return vectors, of
}

// centreRows subtracts each row's mean from all vectors, which is the same as
// fitting a constant per row (Frisch and Waugh 1933, Econometrica 1, p. 387), and
// returns the number of rows.
func centreRows(cells []Cell, vectors [][]float64) int {
	members := map[int][]int{}
	for i, c := range cells {
		members[c.Row] = append(members[c.Row], i)
	}
	for _, v := range vectors {
		for _, at := range members {
			sum := 0.0
			for _, i := range at {
				sum += v[i]
			}
			for _, i := range at {
				v[i] -= sum / float64(len(at))
			}
		}
	}
	return len(members)
}
