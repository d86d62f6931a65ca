package report

import (
	"fmt"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// caveats is what cannot be known from imported figures. It stands first.
func (in Language) caveats(e *record.Effects) block {
	var b block
	for _, c := range e.Caveats {
		text := in.said(c.Text)
		if c.Arm != "" {
			text = in.colon(c.Arm, text)
		}
		b.items = append(b.items, item{label: cell{"!", unsure}, text: in.remedied(lined(text), c.Remedy)})
	}
	return b
}

// seenCell is such an effect, with the interval of what happened inside the runs
// in round brackets: it is not the interval of the effect.
func (in Language) seenCell(x record.Effect) figure {
	if !arrange.Seen(x) {
		return effectCell(x)
	}
	f := figure{cell: cell{quantity.Percent(x.Observed), unsure}}
	if x.Within != nil {
		f.rest = "(" + in.inside(x.Within) + ")"
	}
	return f
}

// inside is an interval of what happened inside runs: "-47.1 to -41.9".
func (in Language) inside(r *record.Ratio) string {
	d := quantity.Digits(r)
	return in.text("seen.range", "low", quantity.Change(r.Low, d), "high", quantity.Change(r.High, d))
}

// onlySeen says that no effect of the workload has an interval: nothing in it
// was decided or could be.
func (w workload) onlySeen() bool {
	for _, x := range w.Effect {
		if !arrange.Seen(x) {
			return false
		}
	}
	return w.Imported
}

// armHead is the heading over what is said of an arm.
func (w workload) armHead() string {
	if w.Imported {
		return w.in.text("head.runs")
	}
	return w.in.text("head.adds")
}

func (w workload) baselineWord() string {
	if w.Alone() {
		return w.in.said(w.Arm[w.Baseline].Title)
	}
	if w.Imported {
		return w.in.text("ladder.baseline.run", "title", w.in.said(w.Arm[w.Baseline].Title))
	}
	return w.in.text("ladder.baseline")
}

// runs is the table of single runs of an imported result, in place of what is
// said of blocks.
func (in Language) runs(e *record.Effects, ws []workload) []block {
	t := table{columns: []column{
		{head: in.text("runs.run"), flex: 16}, {head: in.text("head.arm"), flex: 8, drop: 2}, {head: in.text("head.metric"), drop: 1}, {head: in.text("runs.mean"), align: right},
		{head: in.text("runs.reports"), align: right, drop: 3}, {head: in.text("runs.lag"), align: right}, {head: in.text("runs.batches"), align: right}, {head: "±", align: right},
	}}
	for _, w := range ws {
		for _, s := range e.Single {
			if s.Workload == w.Name {
				t.rows = append(t.rows, w.runRow(s))
			}
		}
	}
	var b block
	if len(t.rows) > 0 {
		b.tables = []table{t}
	}
	b.notes = append(in.importedNotes(ws), in.keptClaims(ws)...)
	if len(t.rows) > 0 {
		b.notes = append(b.notes, in.msg("runs.note"))
	}
	return []block{b, {items: []item{{label: cell{in.text("label.files"), plain}, text: say(in.files(e))}}}}
}

func (w workload) runRow(s record.ImportedSeries) row {
	m := w.metricWord(s.Metric)
	r := row{cell{s.File, plain}, cell{s.Arm, plain}, cell{m.head, plain}, cell{none, faint}, cell{fmt.Sprint(s.Reports), plain},
		cell{none, faint}, cell{none, faint}, cell{none, faint}}
	if x, ok := s.Mean.Get(); ok {
		r[3] = cell{m.show(x), plain}
	}
	if x, ok := s.Lag1.Get(); ok {
		r[5] = cell{fmt.Sprintf("%.2f", x), plain}
	}
	if s.Batches > 0 {
		r[6] = cell{fmt.Sprintf("%d × %d", s.Batches, s.BatchSize), plain}
	}
	if s.Half > 0 {
		r[7] = cell{quantity.PlusMinus(s.Half), plain}
	}
	return r
}

// files says how many files of which tools were read.
func (in Language) files(e *record.Effects) string {
	var kinds arrange.Ordered
	count := map[string]int{}
	for _, f := range e.Imported.Files {
		name := f.Kind
		if f.Era != "" {
			name += " " + f.Era
		}
		kinds.Add(name)
		count[name]++
	}
	var words []string
	for _, k := range kinds {
		words = append(words, fmt.Sprintf("%d %s", count[k], k))
	}
	return in.list(words)
}

// failedNotes spell out the checks that failed.
func (in Language) failedNotes(ws []workload) (notes []sentence) {
	for _, w := range ws {
		for _, c := range w.Checks {
			if c.Known && !c.OK {
				notes = append(notes, in.checkNote(w.Name, c, in.inWords(c)))
			}
		}
	}
	return notes
}

// importedNotes are the checks that failed, and those for which there are too few figures.
func (in Language) importedNotes(ws []workload) []sentence {
	notes := in.failedNotes(ws)
	var kinds, loads arrange.Grouped[record.Said] // by what is not known
	for _, w := range ws {
		for _, c := range w.Checks {
			if !c.Known {
				kinds.Add(c.Text, in.static(c.Kind))
				loads.Add(c.Text, w.Name)
			}
		}
	}
	for why, of := range kinds.All() {
		where := ""
		if some := loads.Of(why); len(some) < len(ws) {
			where = in.text("join.remark", "subject", "", "what", in.list(some))
		}
		notes = append(notes, in.msg("check.unknown", "kinds", in.list(of), "why", in.said(why), "where", where))
	}
	return notes
}

// keptClaims are the published percentages that follow from the figures.
func (in Language) keptClaims(ws []workload) []sentence {
	var notes []sentence
	for _, w := range ws {
		for _, c := range w.Checks {
			if c.Kind == "claims" && c.Known && c.OK {
				notes = append(notes, in.checkNote(w.Name, c, in.msg("check.right")[0]))
			}
		}
	}
	return notes
}
