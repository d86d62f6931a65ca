package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// caveats is what cannot be known from imported figures. It stands first.
func caveats(e *record.Effects) block {
	var b block
	for _, c := range e.Caveats {
		s := sentence{}
		if c.Arm != "" {
			s = append(s, cell{c.Arm + ": ", plain})
		}
		b.items = append(b.items, item{label: cell{"!", unsure}, text: remedied(append(s, cell{c.Text, plain}), c.Remedy)})
	}
	return b
}

// seenCell is such an effect, with the interval of what happened inside the runs
// in round brackets: it is not the interval of the effect.
func seenCell(x record.Effect) cell {
	if !arrange.Seen(x) {
		return effectCell(x)
	}
	if x.Within == nil {
		return cell{quantity.Percent(x.Observed), unsure}
	}
	return cell{quantity.Percent(x.Observed) + " (" + inside(x.Within) + ")", unsure}
}

// inside is an interval of what happened inside runs: "-47.1 to -41.9".
func inside(r *record.Ratio) string {
	d := quantity.Digits(r)
	return text("seen.range", "low", quantity.Change(r.Low, d), "high", quantity.Change(r.High, d))
}

// inTheseRuns is the sentence about an effect that is only seen.
func (w workload) inTheseRuns(f record.Finding) sentence {
	return msg("seen.finding", "subject", w.subject(f), "amount", w.amountSeen(f.Effect), "reason", since(f.Effect.Reason))
}

// amountSeen is "44.6 % less throughput", with what the noise inside the runs
// says about it.
func (w workload) amountSeen(x record.Effect) sentence {
	key := messages.Key("seen.more")
	switch {
	case math.Abs(x.Observed-1) < 0.0005:
		key = "seen.same"
	case x.Observed < 1:
		key = "seen.less"
	}
	s := msg(key, "amount", quantity.Unsigned(quantity.WithUnit(quantity.Change(1+math.Abs(x.Observed-1), 1), "%")), "metric", w.metricWord(x.Metric).of)
	if x.Within != nil {
		s = append(s, msg("seen.inside", "interval", inside(x.Within))...)
	}
	return s
}

// allSeen is one sentence about several arms of which all is only seen, for the
// same reason; nil where they are not alike.
func (w workload) allSeen(l record.LoadAnswer) sentence {
	if !w.Imported || len(l.Findings) < 2 {
		return nil
	}
	var arms []sentence
	for _, f := range l.Findings {
		x := f.Effect
		if !arrange.Seen(x) || x.Verdict != record.Undecided || x.Reason != l.Findings[0].Effect.Reason {
			return nil
		}
		arms = append(arms, msg("seen.arm", "arm", x.Arm, "amount", w.amountSeen(x)))
	}
	return msg("seen.all", "arms", joined(", ", arms...), "reason", since(l.Findings[0].Effect.Reason))
}

// since is a reason behind a semicolon.
func since(reason string) string {
	return strings.Replace(because(reason), ": ", "; ", 1)
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
		return text("head.runs")
	}
	return text("head.adds")
}

func (w workload) baselineWord() string {
	if w.Alone() {
		return w.Arm[w.Baseline].Title
	}
	if w.Imported {
		return text("ladder.baseline.run", "title", w.Arm[w.Baseline].Title)
	}
	return text("ladder.baseline")
}

// runs is the table of single runs of an imported result, in place of what is
// said of blocks.
func runs(e *record.Effects, ws []workload) []block {
	t := table{columns: []column{
		{head: text("runs.run"), flex: 16}, {head: text("head.arm"), flex: 8}, {head: text("head.metric")}, {head: text("runs.mean"), align: right},
		{head: text("runs.reports"), align: right}, {head: text("runs.lag"), align: right}, {head: text("runs.batches"), align: right}, {head: "±", align: right},
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
		b.forms = [][]table{{t}, {t.without(2)}, {t.without(1, 2)}, {t.without(1, 2, 4)}}
	}
	b.notes = append(importedNotes(ws), keptClaims(ws)...)
	if len(t.rows) > 0 {
		b.notes = append(b.notes, msg("runs.note"))
	}
	return []block{b, {items: []item{{label: cell{text("label.files"), plain}, text: say(files(e))}}}}
}

func (w workload) runRow(s record.ImportedSeries) row {
	m := w.metricWord(s.Metric)
	r := row{{s.File, plain}, {s.Arm, plain}, {m.head, plain}, {none, faint}, {fmt.Sprint(s.Reports), plain},
		{none, faint}, {none, faint}, {none, faint}}
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
func files(e *record.Effects) string {
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
	return list(words)
}

// importedNotes spell out the checks that did not pass. What the figures do not
// suffice for is said once for all loads.
func importedNotes(ws []workload) []sentence {
	var notes []sentence
	var kinds, loads arrange.Grouped[string] // by what is not known
	for _, w := range ws {
		for _, c := range w.Checks {
			switch {
			case c.Known && !c.OK:
				notes = append(notes, checkNote(w.Name, c, inWords(c)))
			case !c.Known:
				kinds.Add(c.Text, c.Kind)
				loads.Add(c.Text, w.Name)
			}
		}
	}
	for why, of := range kinds.All() {
		where := ""
		if in := loads.Of(why); len(in) < len(ws) {
			where = " (" + list(in) + ")"
		}
		notes = append(notes, msg("check.unknown", "kinds", list(of), "why", why, "where", where))
	}
	return notes
}

// keptClaims are the published percentages that follow from the figures.
func keptClaims(ws []workload) []sentence {
	var notes []sentence
	for _, w := range ws {
		for _, c := range w.Checks {
			if c.Kind == "claims" && c.Known && c.OK {
				notes = append(notes, checkNote(w.Name, c, msg("check.right")[0]))
			}
		}
	}
	return notes
}
