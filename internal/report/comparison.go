package report

import (
	"cmp"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Comparison is what tare compare found.
func Comparison(c *record.Comparison) Document {
	d := Document{title: msg("compare.title", "experiment", c.After.Experiment)}
	d.add(section{blocks: []block{{items: []item{
		{label: cell{text("head.before"), strong}, text: sideSentence(c.Before)},
		{label: cell{text("head.after"), strong}, text: sideSentence(c.After)},
		{label: cell{text("label.comparable"), strong}, text: comparable(c)},
	}}}})
	d.add(section{title: text("compare.differs"), blocks: []block{differences(c)}})
	for _, name := range distinct(c.Changes, func(x record.Change) string { return x.Workload }) {
		d.add(section{title: name, about: text("compare.about"), blocks: []block{
			changes(c, name, false), changes(c, name, true), levels(c, name),
		}})
	}
	d.add(section{title: text("head.warnings"), blocks: []block{warnings(&record.Effects{Warnings: c.Warnings})}})
	return d
}

func sideSentence(s record.Side) sentence {
	what := s.Dir
	if s.Host.Name != "" {
		what += text("title.host", "host", s.Host.Name)
	}
	facts := []string{what}
	if s.Host.Kernel != "" {
		facts = append(facts, text("host.kernel", "version", s.Host.Kernel))
	}
	if s.Started != "" {
		facts = append(facts, started(s.Started))
	}
	if s.Seconds > 0 {
		facts = append(facts, quantity.Duration(s.Seconds))
	}
	if s.Tare != "" {
		facts = append(facts, text("host.tare", "version", s.Tare))
	}
	out := say(strings.Join(facts, ", "))
	if word, torn := ended(s.Ended); torn {
		out = append(out, cell{", ", plain}, cell{word, broken})
	}
	return out
}

// comparable says whether the two may be compared and what for.
func comparable(c *record.Comparison) sentence {
	if !c.SameExperiment {
		return msg("comparable.no")
	}
	n := 0
	for _, d := range c.Differences {
		if d.Weight == record.WeightSetup {
			n++
		}
	}
	switch {
	case c.SameHost && n == 0:
		return msg("comparable.alike")
	case c.SameHost && n == 1:
		return msg("comparable.one")
	case c.SameHost:
		return msg("comparable.some", "n", n)
	}
	return msg("comparable.hosts")
}

// differences lists what may explain a change first.
func differences(c *record.Comparison) block {
	if len(c.Differences) == 0 {
		return block{}
	}
	t := table{columns: []column{{head: ""}, {head: text("head.before")}, {head: text("head.after")}, {head: text("compare.weight")}}}
	for _, d := range c.Differences {
		what := d.What
		if len(d.Where) > 0 {
			what += " (" + strings.Join(d.Where, ", ") + ")"
		}
		weight := map[record.Weight]cell{
			record.WeightExperiment: {text("weight.experiment"), broken}, record.WeightSetup: {text("weight.setup"), unsure}, record.WeightNone: {text("weight.none"), faint},
		}[d.Weight]
		t.rows = append(t.rows, row{{what, plain}, {cmp.Or(d.Before, none), plain}, {cmp.Or(d.After, none), plain}, weight})
	}
	return block{forms: [][]table{{t}, {t.tightly()}}}
}

// changes are the effects before and after, of the primary metric or of the
// others.
func changes(c *record.Comparison, workload string, exploratory bool) block {
	t := table{columns: []column{
		{head: text("head.arm"), flex: 9}, {head: text("head.metric"), flex: 10}, {head: text("head.before"), align: interval}, {head: text("head.after"), align: interval},
		{head: text("head.change"), align: interval}, {head: text("head.verdict")},
	}}
	var reasons arrange.Grouped[string]
	for _, x := range c.Changes {
		if x.Workload != workload || x.Exploratory != exploratory {
			continue
		}
		t.rows = append(t.rows, row{
			{x.Arm, strong}, {x.Metric, plain}, {quantity.Interval(x.Before), plain}, {quantity.Interval(x.After), plain},
			{quantity.Interval(x.Change), verdictTone(x.Verdict)}, changeWord(x, c.Margin),
		})
		if x.Change == nil && x.Reason != "" || x.Verdict == record.Invalid {
			reasons.Add(x.Reason, x.Arm)
		}
	}
	if len(t.rows) == 0 {
		return block{}
	}
	b := block{forms: [][]table{{t}, {t.tightly()}, {t.without(2, 3)}}}
	for why, arms := range reasons.All() {
		b.notes = append(b.notes, say(list(arms)+": "+why+"."))
	}
	if exploratory {
		b.title = text("compare.others")
	}
	return b
}

// changeWord is the verdict on a change of a cost.
func changeWord(x record.Change, margin float64) cell {
	word := verdictWord(x.Verdict)
	switch x.Verdict {
	case record.Cost:
		word = text("change.worse")
	case record.Gain:
		word = text("change.better")
	case record.Negligible:
		word = text("verdict.within", "margin", quantity.Size(margin))
	case record.NoLoss:
		word = text("verdict.noloss.above", "margin", quantity.Size(margin))
	}
	return cell{word, verdictTone(x.Verdict)}
}

// levels are absolute numbers, of the same host only.
func levels(c *record.Comparison, workload string) block {
	t := table{columns: []column{
		{head: text("head.arm"), flex: 10}, {head: text("head.metric"), flex: 10}, {head: text("head.before"), align: right}, {head: text("head.after"), align: right}, {head: text("head.change"), align: right},
	}}
	for _, l := range c.Levels {
		if l.Workload != workload {
			continue
		}
		show := showIn(l.Unit)
		change := cell{none, faint}
		if l.Ratio > 0 {
			change = cell{quantity.Percent(l.Ratio), plain}
		}
		t.rows = append(t.rows, row{{l.Arm, strong}, {l.Metric, plain}, levelCell(l.Before, show), levelCell(l.After, show), change})
	}
	if len(t.rows) == 0 {
		return block{}
	}
	return block{
		title: text("compare.levels"),
		forms: [][]table{{t}, {t.tightly()}},
	}
}

func levelCell(v record.Value, show func(float64) string) cell {
	if x, ok := v.Get(); ok {
		return cell{show(x), plain}
	}
	return cell{none, faint}
}
