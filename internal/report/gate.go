package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Gate is the document of tare check.
func (in Language) Gate(g *record.Gate) Document {
	d := Document{in: in, title: in.gateTitle(g)}
	d.add(section{blocks: []block{
		{items: []item{{text: in.gateAnswer(g)}}, tables: []table{in.gateTable(g)}, notes: in.gateNotes(g)},
	}})
	d.add(section{title: in.text("gate.left"), blocks: []block{in.leftOut(&record.Effects{Left: g.Left})}})
	d.add(section{title: in.text("head.warnings"), blocks: []block{in.warnings(&record.Effects{Warnings: g.Warnings})}})
	if h := in.host(g.Host); h != "" {
		d.add(section{title: in.text("label.host"), fold: true, blocks: []block{{items: []item{{text: say(h)}}}}})
	}
	return d
}

// limitSection is the answer to the limits of a run, for its report.
func (in Language) limitSection(g *record.Gate) section {
	return section{title: in.text("gate.limits"), about: in.answerWord(g.Answer), blocks: []block{
		{items: []item{{text: in.gateAnswer(g)}}, tables: []table{in.gateTable(g)}, notes: in.gateNotes(g)},
	}}
}

func (in Language) gateTitle(g *record.Gate) sentence {
	s := in.msg("title.name", "experiment", strings.TrimRight("tare check "+g.Experiment, " "))
	if g.Host.Name != "" {
		s = append(s, in.msg("title.host", "host", g.Host.Name)...)
	}
	if g.Started != "" {
		s = in.joined("join.comma", s, say(started(g.Started)))
	}
	if word, torn := in.ended(g.Ended); torn {
		s = in.joined("join.comma", s, sentence{{word, broken}})
	}
	return in.msg("join.colon", "subject", s, "what", cell{in.answerWord(g.Answer), answerTone(g.Answer)})
}

func answerTone(a record.Answer) tone {
	switch a {
	case record.AnswerPass:
		return good
	case record.AnswerExceeded:
		return bad
	case record.AnswerUndecided:
		return unsure
	}
	return broken
}

// GateSummary is the answer in one plain sentence.
func (in Language) GateSummary(g *record.Gate) string {
	return in.gateAnswer(g).String()
}

// gateAnswer is the answer in one sentence.
func (in Language) gateAnswer(g *record.Gate) sentence {
	count := map[record.Answer]int{}
	for _, j := range g.Judgements {
		count[j.Answer]++
	}
	costs := in.number("count.costs", len(g.Judgements))
	switch {
	case count[record.AnswerExceeded] > 0:
		return in.msg("gate.exceeded", "n", count[record.AnswerExceeded], "costs", costs)
	case count[record.AnswerInvalid] > 0:
		return in.msg("gate.invalid", "n", count[record.AnswerInvalid], "costs", costs)
	case count[record.AnswerUndecided] > 0:
		if g.Needed > 0 {
			return in.msg("gate.undecided.needed", "n", count[record.AnswerUndecided], "costs", costs, "time", in.about(g.Needed))
		}
		return in.msg("gate.undecided", "n", count[record.AnswerUndecided], "costs", costs)
	}
	return in.msg("gate.pass", "costs", costs)
}

func (in Language) answerWord(a record.Answer) string {
	switch a {
	case record.AnswerPass:
		return in.text("gate.answer.pass")
	case record.AnswerExceeded:
		return in.text("gate.answer.exceeded")
	case record.AnswerUndecided:
		return in.text("gate.answer.undecided")
	}
	return in.text("gate.answer.invalid")
}

// gateTable lists the judgements, the worst answers first.
func (in Language) gateTable(g *record.Gate) table {
	t := table{columns: []column{
		{head: in.text("head.workload"), flex: 10}, {head: in.text("head.arm"), flex: 10}, {head: in.text("head.metric"), flex: 10},
		{head: in.text("gate.cost"), align: interval}, {head: in.text("gate.limit"), align: right}, {head: in.text("gate.answer")},
	}}
	for _, j := range byAnswer(g.Judgements) {
		t.rows = append(t.rows, row{
			cell{j.Workload, plain}, cell{j.Arm, strong}, cell{in.static(j.Metric), plain},
			costCell(j), cell{quantity.Size(j.Most), plain}, cell{in.answerWords(j), answerTone(j.Answer)},
		})
	}
	return t
}

func byAnswer(js []record.Judgement) []record.Judgement {
	order := []record.Answer{record.AnswerExceeded, record.AnswerInvalid, record.AnswerUndecided, record.AnswerPass}
	sorted := slices.Clone(js)
	slices.SortStableFunc(sorted, func(a, b record.Judgement) int {
		return slices.Index(order, a.Answer) - slices.Index(order, b.Answer)
	})
	return sorted
}

// costCell is a cost with its interval, without a sign: "3.1 % [2.4, 3.8]".
func costCell(j record.Judgement) figure {
	c := j.Cost
	if c == nil {
		return cell{none, faint}.figure()
	}
	digits := quantity.Digits(&record.Ratio{Low: 1 + c.Low, High: 1 + c.High})
	part := func(cost float64) string { return quantity.Unsigned(quantity.Change(1+cost, digits)) }
	return figure{cell{quantity.WithUnit(part(c.Cost), "%"), answerTone(j.Answer)}, "[" + part(c.Low) + ", " + part(c.High) + "]", ""}
}

func (in Language) answerWords(j record.Judgement) string {
	s := in.answerWord(j.Answer)
	if j.Answer == record.AnswerUndecided && j.Needed > 0 {
		s = in.text("gate.more", "answer", s, "time", in.about(j.Needed))
	}
	if j.Total {
		s = in.text("gate.total", "answer", s)
	}
	return s
}

// gateNotes give the reasons that the table has no room for.
func (in Language) gateNotes(g *record.Gate) []sentence {
	var notes []sentence
	total := false
	type what struct {
		workload, metric string
		reason           record.Said
	}
	var reasons arrange.Grouped[what]
	for _, j := range byAnswer(g.Judgements) {
		total = total || j.Total
		if j.Reason.IsZero() || j.Cost != nil && j.Answer != record.AnswerInvalid && !j.Unjudged {
			continue
		}
		reasons.Add(what{j.Workload, j.Metric, j.Reason}, j.Arm)
	}
	for x, arms := range reasons.All() {
		notes = append(notes, in.msg("gate.reason", "load", x.workload, "metric", in.static(x.metric), "arms", in.list(arms), "reason", in.said(x.reason)))
	}
	if total {
		notes = append(notes, in.msg("gate.total.note"))
	}
	return append(notes, in.msg("gate.note"))
}
