package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// Sentence is the answer of a result in one line: the rows of each verdict, slower first, and how a run ended
// that did not end by itself.
func (in Language) Sentence(e *record.Effects) string {
	a := answerOf(e)
	var by arrange.Grouped[string]
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			coming := r.Says.Word == record.SaysSkipped && e.Ended == record.EndedRunning
			if r.Says.Word != "" && !coming {
				by.Add(in.verdictOf(r.Says), sized(r, in.rowName(a, t, r)))
			}
		}
	}
	rank := map[string]int{}
	for i, key := range verdicts {
		rank[in.text(key)] = i - len(verdicts) // others, such as "as besteffort, within ±3 %", are last
	}
	slices.SortStableFunc(by.Keys, func(x, y string) int { return cmp.Compare(rank[x], rank[y]) })
	var parts []string
	for verdict, rows := range by.All() {
		if n := len(rows) - mostNamed; n > 1 {
			rows = append(rows[:mostNamed:mostNamed], in.text("checks.more", "n", n))
		}
		parts = append(parts, in.text("said.rows", "verdict", verdict, "rows", in.list(rows)))
	}
	switch {
	case len(parts) == 0 && e.Ended == record.EndedRunning:
	case len(parts) == 0 && len(a.Tables) > 0:
		parts = []string{in.text("said.levels")}
	case len(parts) == 0:
		parts = []string{in.text("answer.nothing")}
	}
	if how, torn := in.ended(e.Ended); torn {
		for i, part := range parts {
			parts[i] = strings.TrimRight(part, ".。") // the sentence goes on
		}
		if e.Ended == record.EndedError && len(e.Caveats) > 0 {
			how = in.colon(how, in.said(e.Caveats[0].Text.FirstLine()))
		}
		parts = append(parts, how)
	}
	return in.semicolons(parts...)
}

// mostNamed is how many rows of a verdict a sentence names.
const mostNamed = 3

// verdicts are in the order of a sentence.
var verdicts = []messages.Key{
	"says.slower", "says.tooslow", "says.protects", "says.faster", "says.enough", "said.noloss", "said.nodifference",
	"said.undecided", "says.undecided", "says.invalid", "says.skipped",
}

// verdictOf is the verdict of a row as its table words it, without the numbers of the row alone.
func (in Language) verdictOf(s record.Says) string {
	switch {
	case s.Word == record.SaysNoLoss && s.As == "" && !s.Protects:
		return in.text("said.noloss")
	case s.Word == record.SaysNoDifference && s.As == "" && !s.Protects:
		return in.text("said.nodifference")
	case s.Word == record.SaysUndecided && s.Bound > 0 && s.As == "" && !s.Protects:
		return in.text("said.undecided")
	}
	return in.answerCell(record.AnswerRow{Says: record.Says{Word: s.Word, Protects: s.Protects, As: s.As, Within: s.Within}}).text
}

// sized adds the number of its verdict to the name of a row: the size of an effect that is shown, of the table's metric and
// beside the neighbour of pods, else the bound. What protects or is as another arm has none, because its verdict is about
// other arms.
func sized(r record.AnswerRow, name string) string {
	x, s := cmp.Or(r.Beside, r.Effect), r.Says
	switch {
	case s.Protects || s.As != "":
	case s.Word == record.SaysNoLoss, s.Word == record.SaysNoDifference, s.Word == record.SaysUndecided && s.Bound > 0:
		return name + " " + percentUp(s.Bound)
	case (s.Word == record.SaysSlower || s.Word == record.SaysFaster) && x != nil && x.Typical != nil:
		change, _ := around(x.Typical)
		return name + " " + change + " %"
	}
	return name
}

// Live prints the tables of the answer so far, without notes, for a run that is going on.
func (in Language) Live(e *record.Effects, o Options) []string {
	r := textRenderer{in: in, width: o.width(), color: o.Color}
	for _, t := range answerOf(e).Tables {
		b := in.answerTable(e, t)
		b.notes = nil
		r.block(b)
	}
	return strings.Split(strings.TrimSuffix(r.out.String(), "\n"), "\n")
}
