package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/tarelab/tare/record"
)

// GateText prints what tare check found for a terminal or a plain file.
func GateText(w io.Writer, g *record.Gate, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	r.document(gate(g))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// GateMarkdown prints it for a pull request.
func GateMarkdown(w io.Writer, g *record.Gate) error {
	var r markdownRenderer
	r.document(gate(g))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// GateJSON prints it as one indented object, schema tare/check/v1.
func GateJSON(w io.Writer, g *record.Gate) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(g); err != nil {
		return fmt.Errorf("write the check as JSON: %w", err)
	}
	return nil
}

func gate(g *record.Gate) document {
	d := document{title: gateTitle(g)}
	d.add(section{blocks: []block{
		{items: []item{{text: gateAnswer(g)}}, forms: gateTables(g), notes: gateNotes(g)},
	}})
	d.add(section{title: "not checked", blocks: []block{leftOut(&record.Effects{Left: g.Left})}})
	d.add(section{title: "warnings", blocks: []block{warnings(&record.Effects{Warnings: g.Warnings})}})
	if h := host(g.Host); h != "" {
		d.add(section{title: "host", fold: true, blocks: []block{{items: []item{{text: say(h)}}}}})
	}
	return d
}

func gateTitle(g *record.Gate) sentence {
	s := sentence{{"tare check", strong}}
	if g.Experiment != "" {
		s[0].text += " " + g.Experiment
	}
	if g.Host.Name != "" {
		s = append(s, cell{" on " + g.Host.Name, plain})
	}
	if g.Started != "" {
		s = append(s, cell{", " + started(g.Started), plain})
	}
	if word, torn := ended(g.Ended); torn {
		s = append(s, cell{", ", plain}, cell{word, broken})
	}
	return append(s, cell{": ", plain}, cell{g.Answer.String(), answerTone(g.Answer)})
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
	var s string
	for _, c := range gateAnswer(g) {
		s += c.text
	}
	return s
}

// gateAnswer is the answer in one sentence.
func gateAnswer(g *record.Gate) sentence {
	count := map[record.Answer]int{}
	for _, j := range g.Judgements {
		count[j.Answer]++
	}
	of := len(g.Judgements)
	switch {
	case count[record.AnswerExceeded] > 0:
		n := count[record.AnswerExceeded]
		return sentence{{fmt.Sprintf("%d of %s", n, plural(of, "cost")), bad}, {" " + verb(n, "is", "are") + " above the limit with the whole interval.", plain}}
	case count[record.AnswerInvalid] > 0:
		n := count[record.AnswerInvalid]
		return sentence{{fmt.Sprintf("%d of %s", n, plural(of, "cost")), broken}, {" " + verb(n, "is", "are") + " invalid: the data cannot carry an answer.", plain}}
	case count[record.AnswerUndecided] > 0:
		n := count[record.AnswerUndecided]
		s := sentence{{fmt.Sprintf("%d of %s", n, plural(of, "cost")), unsure}, {" " + verb(n, "is", "are") + " undecided", plain}}
		if g.Needed > 0 {
			return append(s, cell{": about " + about(g.Needed) + " more of measuring would decide (--budget).", plain})
		}
		return append(s, cell{".", plain})
	}
	return sentence{{"Every cost", good}, {" is within its limit with the whole interval (" + plural(of, "cost") + ").", plain}}
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// gateTables list the judgements, the worst answers first.
func gateTables(g *record.Gate) [][]table {
	t := table{columns: []column{
		{head: "workload", flex: 10}, {head: "arm", flex: 10}, {head: "metric", flex: 10},
		{head: "cost", align: interval}, {head: "limit", align: right}, {head: "answer"},
	}}
	for _, j := range byAnswer(g.Judgements) {
		t.rows = append(t.rows, row{
			{j.Workload, plain}, {j.Arm, strong}, {j.Metric, plain},
			{costOf(j), answerTone(j.Answer)}, {size(j.Most), plain}, {answerWords(j), answerTone(j.Answer)},
		})
	}
	return [][]table{{t}, {t.tightly()}}
}

func byAnswer(js []record.Judgement) []record.Judgement {
	order := []record.Answer{record.AnswerExceeded, record.AnswerInvalid, record.AnswerUndecided, record.AnswerPass}
	sorted := slices.Clone(js)
	slices.SortStableFunc(sorted, func(a, b record.Judgement) int {
		return slices.Index(order, a.Answer) - slices.Index(order, b.Answer)
	})
	return sorted
}

// costOf prints a cost with its interval, without a sign: "3.1 % [2.4, 3.8]".
func costOf(j record.Judgement) string {
	c := j.Cost
	if c == nil {
		return none
	}
	size, bounds := loss(&record.Ratio{Ratio: 1 + c.Cost, Low: 1 + c.Low, High: 1 + c.High}, true)
	return size + " " + bounds
}

func answerWords(j record.Judgement) string {
	s := j.Answer.String()
	if j.Answer == record.AnswerUndecided && j.Needed > 0 {
		s += ", " + about(j.Needed) + " more"
	}
	if j.Total {
		s += " (total)"
	}
	return s
}

// gateNotes give the reasons that the table has no room for.
func gateNotes(g *record.Gate) []sentence {
	var notes []sentence
	total := false
	type what struct{ workload, metric, reason string }
	var order []what
	arms := map[what]*ordered{}
	for _, j := range byAnswer(g.Judgements) {
		total = total || j.Total
		if j.Reason == "" || j.Cost != nil && j.Answer != record.AnswerInvalid {
			continue
		}
		x := what{j.Workload, j.Metric, j.Reason}
		if arms[x] == nil {
			order = append(order, x)
			arms[x] = &ordered{}
		}
		arms[x].add(j.Arm)
	}
	for _, x := range order {
		notes = append(notes, say(x.workload+", "+x.metric+" of "+list(*arms[x])+": "+x.reason+"."))
	}
	if total {
		notes = append(notes, say("total: the loss comes in bursts, which a typical window hides; everything is counted."))
	}
	return append(notes, say("A cost passes when its whole 95 % interval is within the limit, and exceeds it when the whole interval is above."))
}
