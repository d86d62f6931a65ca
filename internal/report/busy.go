package report

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// A busy node: the same arms beside a neighbour in a pod.

// classes says that the rows of a matrix differ in the environment, and not in a
// mechanism.
func classes(p record.Price) bool { return len(p.Rows) > 0 && p.Rows[0].Environment != "" }

// onBusyNode says that an arm is told about as one beside a neighbour in a pod.
func onBusyNode(e *record.Effects, w workload, arm string) bool {
	return slices.ContainsFunc(pricesOf(e, w.Name), func(p record.Price) bool {
		return classes(p) && slices.ContainsFunc(p.Rows, func(r record.PriceRow) bool { return r.Arm == arm })
	})
}

// busy is what the arms lose on a busy node.
func busy(e *record.Effects, w workload) (s sentence) {
	for _, p := range pricesOf(e, w.Name) {
		if !classes(p) || p.Invalid != "" {
			continue
		}
		b := busyBeside(w, p)
		if len(s) > 0 && len(b) > 0 {
			s = append(s, cell{" ", plain})
		}
		s = append(s, b...)
	}
	return s
}

func busyBeside(w workload, p record.Price) sentence {
	m := w.metricWord(p.Primary)
	var changed, open []string
	tone := good
	for _, r := range p.Rows {
		x := find(r.Back, p.Primary).Alone
		if x == nil {
			continue // it was not measured, which is said elsewhere
		}
		if x.Low <= 1 && x.High >= 1 {
			open = append(open, r.Arm)
			continue
		}
		changed = append(changed, r.Arm+" "+Interval(x))
		if (x.Ratio > 1) != m.more {
			tone = bad
		}
	}
	s := sentence{{"Beside " + p.Neighbour.Name + " in a pod ", plain}}
	if len(changed)+len(open) == 0 {
		return nil
	}
	if len(changed) == 0 {
		return append(s, cell{"no change is shown", unsure}, cell{" of " + list(open) + ".", plain})
	}
	s = append(s, cell{m.of + " changes", tone}, cell{": " + list(changed) + ", each against itself alone", plain})
	if len(open) > 0 {
		s = append(s, cell{"; no change is shown of " + list(open), plain})
	}
	return append(s, cell{".", plain})
}
