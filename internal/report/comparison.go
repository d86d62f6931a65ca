package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// ComparisonText prints what tare compare found for a terminal or a plain file.
func ComparisonText(w io.Writer, c *record.Comparison, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	r.document(comparison(c))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// ComparisonMarkdown prints it for a pull request.
func ComparisonMarkdown(w io.Writer, c *record.Comparison) error {
	var r markdownRenderer
	r.document(comparison(c))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// ComparisonJSON prints it as one indented object, schema tare/comparison/v1.
func ComparisonJSON(w io.Writer, c *record.Comparison) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return nil
}

func comparison(c *record.Comparison) document {
	d := document{title: sentence{{"tare compare", strong}, {" " + c.After.Experiment, plain}}}
	d.add(section{blocks: []block{{items: []item{
		{cell{"before", strong}, sideSentence(c.Before)},
		{cell{"after", strong}, sideSentence(c.After)},
		{cell{"comparable", strong}, comparable(c)},
	}}}})
	d.add(section{title: "what differs", blocks: []block{differences(c)}})
	for _, name := range changedWorkloads(c) {
		d.add(section{title: name, about: "an arm's effect against its baseline, before and after", blocks: []block{
			changes(c, name, false), changes(c, name, true), levels(c, name),
		}})
	}
	d.add(section{title: "warnings", blocks: []block{warnings(&record.Effects{Warnings: c.Warnings})}})
	return d
}

func sideSentence(s record.Side) sentence {
	text := s.Dir
	if s.Host.Name != "" {
		text += " on " + s.Host.Name
	}
	if s.Host.Kernel != "" {
		text += ", kernel " + s.Host.Kernel
	}
	if s.Started != "" {
		text += ", " + started(s.Started)
	}
	if s.Seconds > 0 {
		text += ", " + Duration(s.Seconds)
	}
	if s.Tare != "" {
		text += ", tare " + s.Tare
	}
	out := say(text)
	if word, torn := ended(s.Ended); torn {
		out = append(out, cell{", ", plain}, cell{word, broken})
	}
	return out
}

// comparable says whether the two may be compared and what for.
func comparable(c *record.Comparison) sentence {
	if !c.SameExperiment {
		return sentence{{"no", broken}, {": not the same experiment, compared by force. What has the same name may not be the same thing.", plain}}
	}
	n := 0
	for _, d := range c.Differences {
		if d.Weight == record.WeightSetup {
			n++
		}
	}
	s := sentence{{"yes", good}, {": the same experiment", plain}}
	switch {
	case c.SameHost && n == 0:
		s = append(s, cell{" on the same host, and nothing is known to differ. A change may come from what was not recorded.", plain})
	case c.SameHost && n == 1:
		s = append(s, cell{" on the same host; a change may come from the one thing that differs.", plain})
	case c.SameHost:
		s = append(s, cell{" on the same host; a change may come from any of the " + strconv.Itoa(n) + " things that differ.", plain})
	default:
		s = append(s, cell{" on different hosts: the effects can be compared, absolute levels cannot.", plain})
	}
	return s
}

// differences lists what may explain a change first.
func differences(c *record.Comparison) block {
	if len(c.Differences) == 0 {
		return block{}
	}
	t := table{columns: []column{{head: ""}, {head: "before"}, {head: "after"}, {head: "weight"}}}
	for _, d := range c.Differences {
		what := d.What
		if len(d.Where) > 0 {
			what += " (" + strings.Join(d.Where, ", ") + ")"
		}
		weight := map[record.Weight]cell{
			record.WeightExperiment: {"another experiment", broken}, record.WeightSetup: {"may matter", unsure}, record.WeightNone: {"no influence", faint},
		}[d.Weight]
		t.rows = append(t.rows, row{{what, plain}, {orNothing(d.Before), plain}, {orNothing(d.After), plain}, weight})
	}
	return block{forms: [][]table{{t}, {t.tightly()}}}
}

func orNothing(s string) string {
	if s == "" {
		return none
	}
	return s
}

func changedWorkloads(c *record.Comparison) []string {
	var names ordered
	for _, x := range c.Changes {
		names.add(x.Workload)
	}
	return names
}

// changes are the effects before and after, of the primary metric or of the
// others.
func changes(c *record.Comparison, workload string, exploratory bool) block {
	t := table{columns: []column{
		{head: "arm", flex: 9}, {head: "metric", flex: 10}, {head: "before", align: interval}, {head: "after", align: interval},
		{head: "change", align: interval}, {head: "verdict"},
	}}
	var reasons ordered
	arms := map[string]*ordered{}
	for _, x := range c.Changes {
		if x.Workload != workload || x.Exploratory != exploratory {
			continue
		}
		t.rows = append(t.rows, row{
			{x.Arm, strong}, {x.Metric, plain}, {Interval(x.Before), plain}, {Interval(x.After), plain},
			{Interval(x.Change), verdictTone(x.Verdict)}, changeWord(x, c.Margin),
		})
		if x.Change == nil && x.Reason != "" || x.Verdict == record.Invalid {
			if arms[x.Reason] == nil {
				arms[x.Reason] = &ordered{}
				reasons.add(x.Reason)
			}
			arms[x.Reason].add(x.Arm)
		}
	}
	if len(t.rows) == 0 {
		return block{}
	}
	b := block{forms: [][]table{{t}, {t.tightly()}, {t.without(2, 3)}}}
	for _, why := range reasons {
		b.notes = append(b.notes, say(list(*arms[why])+": "+why+"."))
	}
	if exploratory {
		b.title = "other metrics (exploratory: false discovery rate 10 %)"
	}
	return b
}

// changeWord is the verdict on a change of a cost.
func changeWord(x record.Change, margin float64) cell {
	text := map[record.Verdict]string{
		record.Cost: "worse", record.Gain: "better", record.Negligible: "within " + size(margin),
		record.Undecided: "undecided",
	}[x.Verdict]
	if text == "" {
		text = "invalid"
	}
	return cell{text, verdictTone(x.Verdict)}
}

// levels are absolute numbers, of the same host only.
func levels(c *record.Comparison, workload string) block {
	t := table{columns: []column{
		{head: "arm", flex: 10}, {head: "metric", flex: 10}, {head: "before", align: right}, {head: "after", align: right}, {head: "change", align: right},
	}}
	for _, l := range c.Levels {
		if l.Workload != workload {
			continue
		}
		show := showIn(l.Unit)
		change := cell{none, faint}
		if l.Ratio > 0 {
			change = cell{Percent(l.Ratio), plain}
		}
		t.rows = append(t.rows, row{{l.Arm, strong}, {l.Metric, plain}, levelCell(l.Before, show), levelCell(l.After, show), change})
	}
	if len(t.rows) == 0 {
		return block{}
	}
	return block{
		title: "absolute levels on this host, without an interval: between two runs a change cannot be told from a drift of the host",
		forms: [][]table{{t}, {t.tightly()}},
	}
}

func levelCell(v record.Value, show func(float64) string) cell {
	x, ok := v.Get()
	if !ok {
		return cell{none, faint}
	}
	return cell{show(x), plain}
}
