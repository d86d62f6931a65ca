package report

import (
	"math"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// modes says which arms have two modes over time, and from the probes why; where
// none has, what would have shown.
func modes(e *record.Effects, w workload) block {
	b := block{}
	for _, m := range w.TwoModes {
		b.items = append(b.items, item{label: cell{m.Arm, strong}, text: twoModes(w, m)})
	}
	if len(b.items) > 0 {
		b.title = text("modes.title")
		return b
	}
	if s := oneMode(e, w); len(s) > 0 {
		b.notes = append(b.notes, s)
	}
	return b
}

func twoModes(w workload, m record.ArmModes) sentence {
	show := w.metricWord(m.Metric).show
	s := msg("modes.two", "low", show(m.Modes.Low), "share", quantity.Share(1-m.Modes.Share), "windows", m.Windows, "high", show(m.Modes.High),
		"changes", number("count.changes", m.Modes.Switches), "apart", quantity.Size(math.Expm1(math.Abs(math.Log(m.Apart)))))
	if len(m.Differ) == 0 {
		return joined(" ", s, msg("modes.alike"))
	}
	var texts []string
	for _, d := range m.Differ {
		texts = append(texts, d.Text)
	}
	return joined(" ", s, msg("modes.differ", "probes", list(texts)))
}

// hidden is how far apart two levels may be before it means nothing that they were
// not found.
const hidden = 0.5

// oneMode says that no arm has two, as far as could be told.
func oneMode(e *record.Effects, w workload) sentence {
	worst := 0.0
	var told, untold []string
	for _, m := range e.Modes {
		switch {
		case m.Workload != w.Name || m.Detectable == 0:
		case m.Detectable > hidden:
			untold = append(untold, m.Arm)
		default:
			told = append(told, m.Arm)
			worst = max(worst, m.Detectable)
		}
	}
	switch {
	case len(told) == 0 && len(untold) == 0:
		return nil
	case len(told) == 0:
		return msg("modes.untold")
	case len(untold) == 0:
		return msg("modes.none", "size", quantity.Size(worst))
	}
	return msg("modes.none.but", "size", quantity.Size(worst), "arms", list(untold))
}
