package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Gate is the document of tare check.
func Gate(g *record.Gate) Document {
	d := Document{title: gateTitle(g)}
	d.add(section{blocks: []block{
		{items: []item{{text: gateAnswer(g)}}, tables: []table{gateTable(g)}, notes: gateNotes(g)},
	}})
	d.add(section{title: text("gate.left"), blocks: []block{leftOut(&record.Effects{Left: g.Left})}})
	d.add(section{title: text("head.warnings"), blocks: []block{warnings(&record.Effects{Warnings: g.Warnings})}})
	if h := host(g.Host); h != "" {
		d.add(section{title: text("label.host"), fold: true, blocks: []block{{items: []item{{text: say(h)}}}}})
	}
	return d
}

// limitSection is the answer to the limits of a run, for its report.
func limitSection(g *record.Gate) section {
	return section{title: text("gate.limits"), about: answerWord(g.Answer), blocks: []block{
		{items: []item{{text: gateAnswer(g)}}, tables: []table{gateTable(g)}, notes: gateNotes(g)},
	}}
}

func gateTitle(g *record.Gate) sentence {
	s := msg("title.name", "experiment", strings.TrimRight("tare check "+g.Experiment, " "))
	if g.Host.Name != "" {
		s = append(s, msg("title.host", "host", g.Host.Name)...)
	}
	if g.Started != "" {
		s = append(s, cell{", " + started(g.Started), plain})
	}
	if word, torn := ended(g.Ended); torn {
		s = append(s, cell{", ", plain}, cell{word, broken})
	}
	return append(s, cell{": ", plain}, cell{answerWord(g.Answer), answerTone(g.Answer)})
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
func GateSummary(g *record.Gate) string {
	return gateAnswer(g).String()
}

// gateAnswer is the answer in one sentence.
func gateAnswer(g *record.Gate) sentence {
	count := map[record.Answer]int{}
	for _, j := range g.Judgements {
		count[j.Answer]++
	}
	costs := number("count.costs", len(g.Judgements))
	switch {
	case count[record.AnswerExceeded] > 0:
		return msg("gate.exceeded", "n", count[record.AnswerExceeded], "costs", costs)
	case count[record.AnswerInvalid] > 0:
		return msg("gate.invalid", "n", count[record.AnswerInvalid], "costs", costs)
	case count[record.AnswerUndecided] > 0:
		if g.Needed > 0 {
			return msg("gate.undecided.needed", "n", count[record.AnswerUndecided], "costs", costs, "time", quantity.About(g.Needed))
		}
		return msg("gate.undecided", "n", count[record.AnswerUndecided], "costs", costs)
	}
	return msg("gate.pass", "costs", costs)
}

func answerWord(a record.Answer) string {
	switch a {
	case record.AnswerPass:
		return text("gate.answer.pass")
	case record.AnswerExceeded:
		return text("gate.answer.exceeded")
	case record.AnswerUndecided:
		return text("gate.answer.undecided")
	}
	return text("gate.answer.invalid")
}

// gateTable lists the judgements, the worst answers first.
func gateTable(g *record.Gate) table {
	t := table{columns: []column{
		{head: text("head.workload"), flex: 10}, {head: text("head.arm"), flex: 10}, {head: text("head.metric"), flex: 10},
		{head: text("gate.cost"), align: interval}, {head: text("gate.limit"), align: right}, {head: text("gate.answer")},
	}}
	for _, j := range byAnswer(g.Judgements) {
		t.rows = append(t.rows, row{
			{j.Workload, plain}, {j.Arm, strong}, {j.Metric, plain},
			costCell(j), {quantity.Size(j.Most), plain}, {answerWords(j), answerTone(j.Answer)},
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

func costCell(j record.Judgement) cell {
	if j.Cost == nil {
		return cell{none, faint}
	}
	return cell{costOf(j), answerTone(j.Answer)}
}

// costOf prints a cost with its interval, without a sign: "3.1 % [2.4, 3.8]".
func costOf(j record.Judgement) string {
	c := j.Cost
	if c == nil {
		return none
	}
	digits := quantity.Digits(&record.Ratio{Low: 1 + c.Low, High: 1 + c.High})
	part := func(cost float64) string { return quantity.Unsigned(quantity.Change(1+cost, digits)) }
	return quantity.WithUnit(part(c.Cost), "%") + " [" + part(c.Low) + ", " + part(c.High) + "]"
}

func answerWords(j record.Judgement) string {
	s := answerWord(j.Answer)
	if j.Answer == record.AnswerUndecided && j.Needed > 0 {
		s = text("gate.more", "answer", s, "time", quantity.About(j.Needed))
	}
	if j.Total {
		s = text("gate.total", "answer", s)
	}
	return s
}

// gateNotes give the reasons that the table has no room for.
func gateNotes(g *record.Gate) []sentence {
	var notes []sentence
	total := false
	type what struct{ workload, metric, reason string }
	var reasons arrange.Grouped[what]
	for _, j := range byAnswer(g.Judgements) {
		total = total || j.Total
		if j.Unlaunched {
			reasons.Add(what{workload: j.Workload, reason: j.Reason}, j.Arm)
			continue
		}
		if j.Reason == "" || j.Cost != nil && j.Answer != record.AnswerInvalid && !j.Unjudged {
			continue
		}
		reasons.Add(what{j.Workload, j.Metric, j.Reason}, j.Arm)
	}
	for x, arms := range reasons.All() {
		if x.metric == "" {
			notes = append(notes, msg("gate.launches", "load", x.workload, "arms", list(arms), "reason", x.reason))
			continue
		}
		notes = append(notes, msg("gate.reason", "load", x.workload, "metric", x.metric, "arms", list(arms), "reason", x.reason))
	}
	if total {
		notes = append(notes, msg("gate.total.note"))
	}
	return append(notes, msg("gate.note"))
}
