package report

import (
	"fmt"
	"math"
	"strings"

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
		b.items = append(b.items, item{cell{"!", unsure}, remedied(append(s, cell{c.Text, plain}), c.Remedy)})
	}
	return b
}

// seen says that an effect has no verdict but is what imported figures say.
func seen(x record.Effect) bool { return x.Typical == nil && x.Observed > 0 }

// seenCell is such an effect, with the interval of what happened inside the runs
// in round brackets: it is not the interval of the effect.
func seenCell(x record.Effect) cell {
	if !seen(x) {
		return effectCell(x)
	}
	if x.Within == nil {
		return cell{Percent(x.Observed), unsure}
	}
	return cell{Percent(x.Observed) + " (" + inside(x.Within) + ")", unsure}
}

// inside is an interval of what happened inside runs: "-47.1 to -41.9".
func inside(r *record.Ratio) string {
	d := digits(r)
	return change(r.Low, d) + " to " + change(r.High, d)
}

// inTheseRuns is the sentence about an effect that is only seen.
func inTheseRuns(w workload, subject string, x record.Effect) sentence {
	s := append(sentence{{"undecided", unsure}, {" for " + subject + ": ", plain}}, w.amountSeen(x)...)
	return append(s, cell{" in these runs" + since(x.Reason) + ".", plain})
}

// amountSeen is "44.6 % less throughput", with what the noise inside the runs
// says about it.
func (w workload) amountSeen(x record.Effect) sentence {
	what := "more"
	if x.Observed < 1 {
		what = "less"
	}
	s := sentence{{unsigned(withUnit(change(1+math.Abs(x.Observed-1), 1), "%")) + " " + what + " " + w.metricWord(x.Metric).of, unsure}}
	if math.Abs(x.Observed-1) < 0.0005 {
		s = sentence{{"the same " + w.metricWord(x.Metric).of + " to 0.1 %", unsure}}
	}
	if x.Within != nil {
		s = append(s, cell{" (" + inside(x.Within) + " % as far as the noise inside the runs goes)", plain})
	}
	return s
}

// allSeen is one sentence about several arms of which all is only seen, for the
// same reason; nil where they are not alike.
func (w workload) allSeen() sentence {
	if !w.imported || len(w.beside) < 2 {
		return nil
	}
	first, _ := w.primary(w.beside[0])
	s := sentence{{"undecided", unsure}, {": in these runs ", plain}}
	for i, arm := range w.beside {
		x, ok := w.primary(arm)
		if !ok || !seen(x) || x.Verdict != record.Undecided || x.Reason != first.Reason {
			return nil
		}
		if i > 0 {
			s = append(s, cell{", ", plain})
		}
		s = append(append(s, cell{arm + " had ", plain}), w.amountSeen(x)...)
	}
	return append(s, cell{since(first.Reason) + ".", plain})
}

// since is a reason behind a semicolon.
func since(reason string) string {
	return strings.Replace(because(reason), ": ", "; ", 1)
}

// onlySeen says that no effect of the workload has an interval: nothing in it
// was decided or could be.
func (w workload) onlySeen() bool {
	for _, x := range w.effect {
		if !seen(x) {
			return false
		}
	}
	return w.imported
}

// armHead is the heading over what is said of an arm.
func (w workload) armHead() string {
	if w.imported {
		return "runs"
	}
	return "adds"
}

func (w workload) baselineWord() string {
	if w.imported {
		return w.arm[w.Baseline].Title + ", the baseline"
	}
	return "the baseline"
}

// runs is the table of single runs of an imported result, in place of what is
// said of blocks.
func runs(e *record.Effects, ws []workload) []block {
	t := table{columns: []column{
		{head: "run", flex: 16}, {head: "arm", flex: 8}, {head: "metric"}, {head: "mean", align: right}, {head: "reports", align: right},
		{head: "autocorrelation", align: right}, {head: "batches", align: right}, {head: "±", align: right},
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
		b.notes = append(b.notes, say("Reports of one run are not independent. ± is the 95 % interval of a run's own mean "+
			"from batches long enough to be nearly so; – where the run is too short for that."))
	}
	return []block{b, {items: []item{{cell{"files", plain}, say(files(e))}}}}
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
		r[6] = cell{fmt.Sprintf("%d of %d", s.Batches, s.BatchSize), plain}
	}
	if s.Half > 0 {
		r[7] = cell{PlusMinus(s.Half), plain}
	}
	return r
}

// files says how many files of which tools were read.
func files(e *record.Effects) string {
	var kinds ordered
	count := map[string]int{}
	for _, f := range e.Imported.Files {
		name := f.Kind
		if f.Era != "" {
			name += " " + f.Era
		}
		kinds.add(name)
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
	var unknown ordered
	kinds, loads := map[string]*ordered{}, map[string]*ordered{}
	for _, w := range ws {
		for _, c := range w.Checks {
			switch {
			case c.Known && !c.OK:
				notes = append(notes, checkNote(w.Name, c, cell{"failed", broken}))
			case !c.Known:
				unknown.add(c.Text)
				if kinds[c.Text] == nil {
					kinds[c.Text], loads[c.Text] = &ordered{}, &ordered{}
				}
				kinds[c.Text].add(c.Kind)
				loads[c.Text].add(w.Name)
			}
		}
	}
	for _, text := range unknown {
		s := sentence{{list(*kinds[text]) + ": ", plain}, {"not enough data", unsure}, {": " + text, plain}}
		if in := *loads[text]; len(in) < len(ws) {
			s = append(s, cell{" (" + list(in) + ")", plain})
		}
		notes = append(notes, append(s, cell{".", plain}))
	}
	return notes
}

// keptClaims are the published percentages that follow from the figures.
func keptClaims(ws []workload) []sentence {
	var notes []sentence
	for _, w := range ws {
		for _, c := range w.Checks {
			if c.Kind == "claims" && c.Known && c.OK {
				notes = append(notes, checkNote(w.Name, c, cell{"right", calm}))
			}
		}
	}
	return notes
}
