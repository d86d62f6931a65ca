package report

import (
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// candidates is the table of all candidates that were measured, and why the others were skipped.
func (in Language) candidates(a *record.Advice, l record.AdviceLoss) block {
	t := table{columns: []column{
		{head: in.text("advise.head.remedy"), flex: 10}, {head: in.text("advise.head.lost", "arm", l.Arm), align: interval},
		{head: in.text("head.against", "baseline", l.Baseline), align: interval, drop: 1},
		{head: in.text("price.regained"), align: interval}, {head: in.text("price.keeps"), align: interval, drop: 2}, {head: in.text("head.answer"), wrap: leastAnswer},
	}}
	var b block
	for i, c := range l.Candidates {
		if c.Result != nil {
			t.rows = append(t.rows, in.candidateRow(strings.Join(c.Remedies, " + "), c.Result))
		}
		if l.Remedy != nil && *l.Remedy == i && l.Proof != nil && competed(a, l) {
			t.rows = append(t.rows, in.candidateRow(in.text("advise.again", "stage", l.Proof.Stage), l.Proof))
		}
		if c.Skipped != nil {
			b.notes = append(b.notes, in.msg("advise.why", "name", c.Arm, "reason", in.clause(c.Skipped.Reason), "remedy", in.said(c.Skipped.Remedy)))
		}
	}
	if len(t.rows) > 0 {
		b.tables = []table{t}
	}
	return b
}

// candidateRow is what a remedy did in one stage.
func (in Language) candidateRow(name string, r *record.RemedyResult) row {
	share, kept := cell{none, plain}.figure(), cell{none, plain}.figure()
	if x := r.Regained; x != nil {
		share = partFigure(x.Share, x.Low, x.High)
	}
	if x := r.Kept; x != nil {
		kept = partFigure(x.Ratio, x.Low, x.High)
	}
	return row{
		cell{name, strong}, fractional(r.Gained, plain), fractional(r.Left, plain), share, kept,
		in.answerCell(record.AnswerRow{Says: r.Answer}),
	}
}

// candidateSettings are the settings of the candidates that helped, with the way back; what the proof did not show to
// help is none of them.
func (in Language) candidateSettings(l record.AdviceLoss) block {
	b := block{title: in.text("advise.settings")}
	for i, c := range l.Candidates {
		tried := l.Remedy != nil && *l.Remedy == i
		if tried && l.Standing == record.StandingProved || !tried && c.Result != nil && c.Result.Answer.Word == record.SaysFaster {
			b.items = append(b.items, item{label: cell{c.Arm, strong}, text: in.settingSentence(c)})
		}
	}
	if len(b.items) == 0 {
		return block{}
	}
	return b
}

// stages lists the results on which an advice rests.
func (in Language) stages(a *record.Advice) (b block) {
	for _, s := range a.Stages {
		b.items = append(b.items, item{
			label: cell{in.text("advise.stage.kind", "kind", s.Kind), plain},
			text:  in.msg("advise.stage", "load", s.Workload, "time", quantity.Duration(s.Seconds), "seed", s.Seed, "dir", s.Dir),
		})
	}
	return b
}
