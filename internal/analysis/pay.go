package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// NeighbourWork is the metric of what a neighbour gets done, as a rate. It is
// compared with the arm beside it without isolation.
const NeighbourWork = "neighbour_work"

// work is what the neighbour did beside each arm of a market.
type work struct {
	rate   []float64 // per second of window
	relate []pseudo  // of that over the rate beside the unprotected arm, the first
	paired []pseudo  // of the ratio itself: both rates vary
	why    []string
}

// total is work and seconds, by unit.
type total struct {
	work, seconds []float64
	present       []bool
}

func (t total) rate(skip int) float64 {
	work, seconds := 0.0, 0.0
	for u := range t.work {
		if u != skip {
			work, seconds = work+t.work[u], seconds+t.seconds[u]
		}
	}
	return work / seconds
}

// work adds the neighbour's work up. It may do nothing at all in a window, so
// that rates are compared as sums and not by their logarithms.
func (m market) work() work {
	w := work{
		rate: make([]float64, len(m.beside)), relate: make([]pseudo, len(m.beside)),
		paired: make([]pseudo, len(m.beside)), why: make([]string, len(m.beside)),
	}
	plain, why := m.worked(m.unprotected)
	base := plain.rate(-1)
	for i, arm := range m.beside {
		own, not := m.worked(arm)
		if not == "" {
			not = why
		}
		if w.rate[i] = own.rate(-1); not == "" && !(base > 0) {
			not = "the neighbour did nothing without isolation either"
		}
		if w.why[i] = not; not != "" {
			continue
		}
		w.relate[i] = pseudoValues(own.present, func(skip int) float64 { return own.rate(skip) / base })
		w.paired[i] = pseudoValues(own.present, func(skip int) float64 { return own.rate(skip) / plain.rate(skip) })
	}
	return w
}

// worked is the neighbour's work beside an arm, or why it is not known. Blocks
// in which the unprotected arm is missing do not count.
func (m market) worked(arm string) (total, string) {
	t := total{make([]float64, m.units), make([]float64, m.units), make([]bool, m.units)}
	why := "no window of this arm counts"
	for _, r := range m.rows {
		w := r.windows[arm]
		if w == nil || r.windows[m.unprotected] == nil {
			continue
		}
		v, there := w.Neighbour[m.neighbour.Work]
		x, ok := v.Get()
		switch {
		case !there:
			return t, "the neighbour's work was not recorded"
		case !ok:
			return t, v.Reason()
		}
		t.work[r.unit] += x
		t.seconds[r.unit] += w.Seconds
		t.present[r.unit], why = true, ""
	}
	return t, why
}

func (w work) did(i int) record.Value {
	if w.why[i] != "" || math.IsNaN(w.rate[i]) {
		return record.Missing(w.why[i])
	}
	return record.Number(w.rate[i])
}

// kept is the neighbour's work beside an arm over that beside the unprotected
// one; nil for that one itself.
func (w work) kept(i int, level float64) *record.Ratio {
	if i == 0 || w.paired[i] == nil {
		return nil
	}
	var columns [][]float64
	at := -1
	for j := 1; j < len(w.paired); j++ {
		if w.paired[j] == nil {
			continue
		}
		if j == i {
			at = len(columns)
		}
		columns = append(columns, w.paired[j].known())
	}
	e := stat.Family(columns).Columns[at]
	if e.Mean == 0 { // it never ran: nothing varies
		return &record.Ratio{}
	}
	interval := e.At(level)
	if math.IsNaN(e.Mean) || math.IsInf(interval.Half(), 0) {
		return nil
	}
	return &record.Ratio{Ratio: math.Max(e.Mean, 0), Low: math.Max(interval.Lo, 0), High: math.Max(interval.Hi, 0)}
}

// duel is one row against another: what is shown of either side.
type duel struct {
	better, noWorse [2]bool // for the workload, for the neighbour
}

// dominates says that a row gives both sides at least as much, within the
// margin, and one of them more.
func (d duel) dominates() bool {
	return d.better[0] && d.noWorse[1] || d.better[1] && d.noWorse[0]
}

func (d duel) wins() bool { return d.better[0] || d.better[1] }

// stand judges every row against every other in two respects: the primary
// metric and the neighbour's work. All intervals hold together.
func (m market) stand(rows []record.PriceRow, w work) {
	kind, _ := metricOf(m.load, m.load.Primary)
	loads := make([]pseudo, len(rows))
	for i := range rows {
		loads[i], _ = m.between(m.load.Primary, m.beside[i], m.alone[i])
	}
	back := matrix(loads, float64(kind.better), math.Log1p(m.margin), m.level())
	kept := matrix(w.relate, 1, m.margin, m.level())
	for i := range rows {
		if w.relate[i] == nil || loads[i] == nil {
			rows[i].Standing = record.UnknownNeighbour
			continue
		}
		rows[i].Standing, rows[i].By = standing(i, back, kept, m.beside)
	}
}

// standing is dominated, when that is shown, else undominated, when that is.
func standing(i int, back, kept [][]finding, arms []string) (record.Standing, []string) {
	var by, may []string
	for j := range arms {
		if j == i {
			continue
		}
		it := duel{[2]bool{back[j][i].better, kept[j][i].better}, [2]bool{back[j][i].noWorse, kept[j][i].noWorse}}
		own := duel{better: [2]bool{back[i][j].better, kept[i][j].better}}
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

// matrix compares every column with every other. The two matrices of a market
// share the error between them, so each has half of it.
func matrix(columns []pseudo, better, margin, level float64) [][]finding {
	out := make([][]finding, len(columns))
	var pairs [][2]int
	var differences [][]float64
	for i := range columns {
		out[i] = make([]finding, len(columns))
		for j := range i {
			if columns[i] != nil && columns[j] != nil {
				pairs = append(pairs, [2]int{i, j})
				differences = append(differences, columns[i].less(columns[j]).known())
			}
		}
	}
	joint := stat.Family(differences)
	joint.Shared = len(differences) == 1 // the columns do not share a control
	for n, p := range pairs {
		v := joint.Interval(n, (1+level)/2)
		if better < 0 {
			v.Lo, v.Hi = -v.Hi, -v.Lo
		}
		out[p[0]][p[1]] = finding{better: v.Lo > 0, noWorse: v.Lo > -margin}
		out[p[1]][p[0]] = finding{better: v.Hi < 0, noWorse: v.Hi < margin}
	}
	return out
}
