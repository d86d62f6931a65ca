package report

import (
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// Sentence is the answer of a result in one line: the rows of each verdict, slower first, and how a run ended
// that did not end by itself.
func (in Language) Sentence(e *record.Effects) string {
	a := answerOf(e)
	var by arrange.Grouped[messages.Key]
	for _, t := range a.Tables {
		for _, r := range t.Rows {
			if r.Says.Word != "" {
				by.Add(verdictOf(r.Says), sized(r, in.rowName(a, t, r)))
			}
		}
	}
	var parts []string
	for _, verdict := range verdicts {
		rows := by.Of(verdict)
		if n := len(rows) - mostNamed; n > 1 {
			rows = append(rows[:mostNamed:mostNamed], in.text("checks.more", "n", n))
		}
		if len(rows) > 0 {
			parts = append(parts, in.text("said.rows", "verdict", in.text(verdict), "rows", in.list(rows)))
		}
	}
	switch {
	case len(parts) == 0 && len(a.Tables) > 0:
		parts = []string{in.text("said.levels")}
	case len(parts) == 0:
		parts = []string{in.text("answer.nothing")}
	}
	if how, torn := in.ended(e.Ended); torn {
		parts = append(parts, how)
	}
	return in.semicolons(parts...)
}

// mostNamed is how many rows of a verdict a sentence names.
const mostNamed = 3

// verdicts are in the order of a sentence.
var verdicts = []messages.Key{
	"says.slower", "says.tooslow", "said.protects", "says.faster", "says.enough", "said.noloss", "said.nodifference",
	"says.undecided", "says.invalid", "says.skipped",
}

// verdictOf is the verdict of a row without its numbers.
func verdictOf(s record.Says) messages.Key {
	if s.Protects {
		return "said.protects"
	}
	return map[record.AnswerWord]messages.Key{
		record.SaysSlower: "says.slower", record.SaysFaster: "says.faster",
		record.SaysNoLoss: "said.noloss", record.SaysNoDifference: "said.nodifference",
		record.SaysInvalid: "says.invalid", record.SaysSkipped: "says.skipped", record.SaysUndecided: "says.undecided",
		record.SaysEnough: "says.enough", record.SaysTooSlow: "says.tooslow",
	}[s.Word]
}

// sized adds to the name of a row how large its effect is: where the primary metric decided, the change.
func sized(r record.AnswerRow, name string) string {
	decides := (r.Says.Word == record.SaysSlower || r.Says.Word == record.SaysFaster) && r.Says.Metric == ""
	if !decides || r.Effect == nil || r.Effect.Typical == nil {
		return name
	}
	change, _, _ := strings.Cut(around(r.Effect.Typical), " ")
	return name + " " + change + " %"
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
