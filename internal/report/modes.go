package report

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/record"
)

// modes says which arms have two modes over time, and from the probes why; where
// none has, what would have shown.
func modes(e *record.Effects, w workload) block {
	b := block{}
	for _, m := range w.twoModes {
		b.items = append(b.items, item{cell{m.Arm, strong}, twoModes(w, m)})
	}
	if len(b.items) > 0 {
		b.title = "two modes over time"
		return b
	}
	if s := oneMode(e, w); len(s) > 0 {
		b.notes = append(b.notes, s)
	}
	return b
}

// modeNotes is modes as notes.
func modeNotes(e *record.Effects, w workload) []sentence {
	b := modes(e, w)
	notes := b.notes
	for _, it := range b.items {
		notes = append(notes, append(sentence{{it.label.text + " has ", plain}, {"two modes", unsure}, {" over time: ", plain}}, it.text...))
	}
	return notes
}

func twoModes(w workload, m record.ArmModes) sentence {
	show := w.metricWord(m.Metric).show
	s := sentence{{fmt.Sprintf("%s in %s of its %d windows and %s in the others, with %s between them; in the same moment the two are ",
		show(m.Modes.Low), share(1-m.Modes.Share), m.Windows, show(m.Modes.High), plural(m.Modes.Switches, "change")), plain},
		{size(math.Expm1(math.Abs(math.Log(m.Apart)))), strong}, {" apart. A mean describes neither.", plain}}
	if len(m.Differ) == 0 {
		return append(s, cell{" No probe is shown to differ between them.", faint})
	}
	var texts []string
	for _, d := range m.Differ {
		texts = append(texts, d.Text)
	}
	return append(s, cell{" In the slower one ", plain}, cell{list(texts), plain}, cell{".", plain})
}

// hidden is how far apart two levels may be before it means nothing that they were
// not found.
const hidden = 1

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
	var text string
	switch {
	case len(told) == 0 && len(untold) == 0:
		return nil
	case len(told) == 0:
		text = "Whether an arm has two modes over time cannot be told: the windows scatter too much."
	case len(untold) == 0:
		text = fmt.Sprintf("No arm shows two modes over time; two levels that are %s or more apart would have shown.", size(worst))
	default:
		text = fmt.Sprintf("No arm shows two modes over time; two levels that are %s or more apart would have shown, but not in %s, whose windows scatter too much.",
			size(worst), list(untold))
	}
	return sentence{{text, faint}}
}

func namesOfModes(all []record.ArmModes) []string {
	var names []string
	for _, m := range all {
		names = append(names, m.Arm)
	}
	return names
}
