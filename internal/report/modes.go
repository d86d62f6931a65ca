package report

import (
	"math"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// modes says which arms have two modes over time, and from the probes why; where
// none has, what would have shown.
func (in Language) modes(e *record.Effects, w workload) block {
	b := block{}
	for _, m := range w.TwoModes {
		b.items = append(b.items, item{label: cell{m.Arm, strong}, text: in.twoModes(w, m)})
	}
	if len(b.items) > 0 {
		b.title = in.text("modes.title")
		return b
	}
	if s := in.oneMode(e, w); len(s) > 0 {
		b.notes = append(b.notes, s)
	}
	return b
}

func (in Language) twoModes(w workload, m record.ArmModes) sentence {
	show := w.metricWord(m.Metric).show
	s := in.msg("modes.two", "low", show(m.Modes.Low), "share", quantity.Share(1-m.Modes.Share), "windows", m.Windows, "high", show(m.Modes.High),
		"changes", in.number("count.changes", m.Modes.Switches), "apart", quantity.Size(math.Expm1(math.Abs(math.Log(m.Apart)))))
	if len(m.Differ) == 0 {
		return in.joined("join.sentences", s, in.msg("modes.alike"))
	}
	var texts []string
	for _, d := range m.Differ {
		texts = append(texts, in.said(d.Text))
	}
	return in.joined("join.sentences", s, in.msg("modes.differ", "probes", in.list(texts)))
}

// hidden is how far apart two levels may be before it means nothing that they were
// not found.
const hidden = 0.5

// oneMode says that no arm has two, as far as could be told.
func (in Language) oneMode(e *record.Effects, w workload) sentence {
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
		return in.msg("modes.untold")
	case len(untold) == 0:
		return in.msg("modes.none", "size", quantity.Size(worst))
	}
	return in.msg("modes.none.but", "size", quantity.Size(worst), "arms", in.list(untold))
}
