package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// pairwise is one row against another: what is shown of either side.
type pairwise struct {
	better, noWorse [2]bool // for the workload, for the neighbour
}

// dominates says that a row gives both sides at least as much, within the
// margin, and one of them more.
func (p pairwise) dominates() bool {
	return p.better[0] && p.noWorse[1] || p.better[1] && p.noWorse[0]
}

func (p pairwise) wins() bool { return p.better[0] || p.better[1] }

// stand judges every row against every other in two respects: the primary
// metric and the neighbour's work. All intervals hold together: each of the two
// has half of the error.
func (g isolationGroup) stand(rows []record.PriceRow, w work) {
	f := g.fits[g.load.Primary]
	loss := make([][]float64, len(rows))
	for i := range rows {
		if f != nil && g.whyNot(f, g.beside[i], g.alone[i]) == "" {
			loss[i] = g.contrast(f.typical, g.beside[i], g.alone[i])
		}
	}
	better := 1
	if f != nil {
		better = f.Better
	}
	back := matrix(len(rows), better, math.Log1p(g.margin), func(pairs [][2]int) []stat.Interval {
		var cs [][]float64
		for _, p := range pairs {
			cs = append(cs, minus(loss[p[0]], loss[p[1]]))
		}
		return f.typical.Family(cs, 1-g.alpha/2, 1)
	}, func(i int) bool { return loss[i] != nil })
	kept := matrix(len(rows), 1, g.margin, func(pairs [][2]int) []stat.Interval {
		var columns [][]float64
		for _, p := range pairs {
			columns = append(columns, w.relate[p[0]].less(w.relate[p[1]]).known())
		}
		out := make([]stat.Interval, len(pairs))
		for i, e := range stat.Family(columns) {
			out[i] = e.At(1 - g.alpha/2/float64(len(pairs))) // Bonferroni
		}
		return out
	}, func(i int) bool { return w.relate[i] != nil })
	for i := range rows {
		if w.relate[i] == nil || loss[i] == nil {
			rows[i].Standing = record.UnknownNeighbour
			continue
		}
		rows[i].Standing, rows[i].By = standing(i, back, kept, g.beside)
	}
}

// standing is dominated, when that is shown, else undominated, when that is.
func standing(i int, back, kept [][]finding, arms []string) (record.Standing, []string) {
	var by, may []string
	for j := range arms {
		if j == i {
			continue
		}
		it := pairwise{[2]bool{back[j][i].better, kept[j][i].better}, [2]bool{back[j][i].noWorse, kept[j][i].noWorse}}
		own := pairwise{better: [2]bool{back[i][j].better, kept[i][j].better}}
		if it.dominates() {
			by = append(by, arms[j])
		}
		if !own.wins() {
			may = append(may, arms[j])
		}
	}
	switch {
	case len(by) > 0:
		return record.Dominated, by
	case len(may) == 0:
		return record.Undominated, nil
	}
	return record.StandingOpen, may
}

// finding is what is shown of one row against another in one respect.
type finding struct{ better, noWorse bool }

// matrix compares every one that is known with every other, by the intervals of
// their differences.
func matrix(n, better int, margin float64, intervals func(pairs [][2]int) []stat.Interval, known func(int) bool) [][]finding {
	out := make([][]finding, n)
	var pairs [][2]int
	for i := range out {
		out[i] = make([]finding, n)
		for j := range i {
			if known(i) && known(j) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	if len(pairs) == 0 {
		return out
	}
	for n, v := range intervals(pairs) {
		if better < 0 {
			v.Lo, v.Hi = -v.Hi, -v.Lo
		}
		p := pairs[n]
		out[p[0]][p[1]] = finding{better: v.Lo > 0, noWorse: v.Lo > -margin}
		out[p[1]][p[0]] = finding{better: v.Hi < 0, noWorse: v.Hi < margin}
	}
	return out
}

func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// pseudo is the pseudo-values of a ratio, one for each unit (Tukey 1958): their
// mean is the estimate and their scatter its error.
type pseudo []float64

// pseudoValues is one value per unit; NaN for a unit that is not present.
func pseudoValues(present []bool, of func(skip int) float64) pseudo {
	n := 0.0
	for _, p := range present {
		if p {
			n++
		}
	}
	all := of(-1)
	out := make(pseudo, len(present))
	for u, p := range present {
		out[u] = math.NaN()
		if p && n > 1 {
			out[u] = n*all - (n-1)*of(u)
		}
	}
	return out
}

func (p pseudo) less(lower pseudo) pseudo { return minus(p, lower) }

// known are the values that there are.
func (p pseudo) known() []float64 {
	var out []float64
	for _, x := range p {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}
