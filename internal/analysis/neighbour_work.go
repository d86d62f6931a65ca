package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// work is the neighbour's work beside each arm of a group, compared with its work beside the
// arm without isolation.
type work struct {
	rate   []float64   // per second of window
	paired [][]float64 // pseudo-values of rate over that beside the unprotected arm, which is the first
	why    []record.Said
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

// work adds up the neighbour's work. A neighbour may do nothing in a window, so rates are
// compared as sums and not by their logarithms.
func (g isolationGroup) work() work {
	w := work{rate: make([]float64, len(g.beside)), paired: make([][]float64, len(g.beside)), why: make([]record.Said, len(g.beside))}
	plain, why := g.worked(g.unprotected)
	base := plain.rate(-1)
	for i, arm := range g.beside {
		own, not := g.worked(arm)
		if not.IsZero() {
			not = why
		}
		if w.rate[i] = own.rate(-1); not.IsZero() && !(base > 0) {
			not = noNeighbourWork
		}
		if w.why[i] = not; !not.IsZero() {
			continue
		}
		w.paired[i] = pseudoValues(own.present, func(skip int) float64 { return own.rate(skip) / plain.rate(skip) })
	}
	return w
}

// worked returns the neighbour's work beside an arm, or the reason for none. Blocks without
// the unprotected arm do not count.
func (g isolationGroup) worked(arm string) (total, record.Said) {
	t := total{make([]float64, g.units), make([]float64, g.units), make([]bool, g.units)}
	why := noWindow
	name := ofNeighbour + g.neighbour.Work
	if _, recorded := g.seen.column[name]; !recorded {
		return t, workNotRecorded
	}
	for _, r := range g.rows {
		w := g.at(&r, arm)
		if w == nil || g.at(&r, g.unprotected) == nil {
			continue
		}
		x := g.value(w, name)
		if math.IsNaN(x) {
			return t, g.reason(arm, name)
		}
		t.work[r.unit] += x
		t.seconds[r.unit] += w.seconds
		t.present[r.unit], why = true, record.Said{}
	}
	return t, why
}

// pseudoValues returns the pseudo-values of a ratio, one for each unit that is present (Tukey
// 1958): their mean is the estimate and their scatter its error. A single unit has none.
func pseudoValues(present []bool, of func(skip int) float64) []float64 {
	n := 0.0
	for _, p := range present {
		if p {
			n++
		}
	}
	all := of(-1)
	var out []float64
	for u, p := range present {
		if !p || n < 2 {
			continue
		}
		if x := n*all - (n-1)*of(u); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

func (w work) did(i int) record.Value {
	if !w.why[i].IsZero() || math.IsNaN(w.rate[i]) {
		return record.Missing(w.why[i])
	}
	return record.Number(w.rate[i])
}

// kept is the neighbour's work beside an arm over that beside the unprotected arm; nil for the
// latter.
func (w work) kept(i int, level float64) *record.Ratio {
	if i == 0 || w.paired[i] == nil {
		return nil
	}
	e := stat.Mean(w.paired[i])
	if e.Mean == 0 { // the neighbour never ran: there is no scatter
		return &record.Ratio{}
	}
	interval := e.At(level)
	if math.IsNaN(e.Mean) || math.IsInf(interval.Half(), 0) {
		return nil
	}
	return &record.Ratio{Ratio: math.Max(e.Mean, 0), Low: math.Max(interval.Lo, 0), High: math.Max(interval.Hi, 0)}
}
