package answer

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// onBusyNode reports whether an arm runs beside a neighbour in a pod, which has findings of
// its own.
func onBusyNode(e *record.Effects, workload, arm string) bool {
	return slices.ContainsFunc(e.Prices, func(p record.Price) bool {
		return p.Workload == workload && p.OfClasses() && slices.ContainsFunc(p.Rows, func(r record.PriceRow) bool { return r.Arm == arm })
	})
}

// neighbours returns the effect of each neighbour on the load without isolation.
func neighbours(e *record.Effects, w arrange.Workload) (out []record.Finding) {
	for _, p := range e.Prices {
		x, ok := w.Effect[arrange.Key{Metric: p.Primary, Arm: p.Unprotected}]
		if p.Workload != w.Name || len(p.Rows) == 0 || p.OfClasses() || !ok || x.Baseline != p.Alone {
			continue
		}
		f := finding(w, p.Unprotected, record.SubjectNeighbour)
		f.Effect, f.Neighbour = x, p.Neighbour.Name
		if x.Verdict == record.Cost {
			f.Best = best(p)
		}
		out = append(out, f)
	}
	return out
}

// best is the mechanism that is shown to give most of the loss back; nil without any.
func best(p record.Price) *record.PriceRow {
	var most *record.PriceRow
	for i := range p.Rows {
		r := &p.Rows[i]
		if back := r.Of(p.Primary); back.Share != nil && back.Share.Low > 0 &&
			(most == nil || back.Share.Share > most.Of(p.Primary).Share.Share) {
			most = r
		}
	}
	return most
}

// busy returns the effects of neighbours in pods: each arm against itself alone.
func busy(e *record.Effects, w arrange.Workload) (out []record.BusyNode) {
	for _, p := range e.Prices {
		if p.Workload != w.Name || !p.OfClasses() || p.Invalid != "" {
			continue
		}
		b := record.BusyNode{Neighbour: p.Neighbour.Name, Metric: p.Primary, Changed: []string{}, Open: []string{}, Effects: map[string]record.Ratio{}}
		for _, r := range p.Rows {
			x := r.Of(p.Primary).Alone
			if x == nil {
				continue // not measured: the arm's own effect has the reason
			}
			b.Effects[r.Arm] = *x
			if x.Low <= 1 && x.High >= 1 {
				b.Open = append(b.Open, r.Arm)
				continue
			}
			b.Changed = append(b.Changed, r.Arm)
			b.Worse = b.Worse || (x.Ratio > 1) != w.MoreIsBetter(p.Primary)
		}
		if len(b.Effects) > 0 {
			out = append(out, b)
		}
	}
	return out
}
