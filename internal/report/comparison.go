package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Comparison is what tare compare found: the two results, one table of the arms that matter, and what
// changed on the host. Details has every arm, metric, level and difference.
func Comparison(c *record.Comparison, details bool) Document {
	d := Document{title: msg("compare.title", "experiment", c.After.Experiment)}
	d.add(section{blocks: []block{{items: []item{
		{label: cell{text("head.old"), strong}, text: sideSentence(c.Before)},
		{label: cell{text("head.new"), strong}, text: sideSentence(c.After)},
	}}}})
	d.add(section{blocks: []block{overview(c)}})
	d.add(section{blocks: []block{causes(c, details)}})
	if !details {
		return d
	}
	for _, name := range distinct(c.Changes, func(x record.Change) string { return x.Workload }) {
		d.add(section{title: name, about: text("compare.about"), fold: true, blocks: []block{
			changes(c, name, false), changes(c, name, true), levels(c, name),
		}})
	}
	d.add(section{title: text("compare.differs"), blocks: []block{differences(c)}, fold: true})
	d.add(section{title: text("head.warnings"), blocks: []block{warnings(&record.Effects{Warnings: c.Warnings})}})
	return d
}

func sideSentence(s record.Side) sentence {
	what := s.Dir
	if s.Host.Name != "" {
		what += text("title.host", "host", s.Host.Name)
	}
	facts := []string{what}
	if s.Started != "" {
		facts = append(facts, started(s.Started))
	}
	if s.Seconds > 0 {
		facts = append(facts, quantity.Duration(s.Seconds))
	}
	out := say(strings.Join(facts, ", "))
	if word, torn := ended(s.Ended); torn {
		out = append(out, cell{", ", plain}, cell{word, broken})
	}
	return out
}

// overview is the table of what matters: the baselines' levels where both results are of one host, the
// subjects and the arms whose change is shown, and the geometric means.
func overview(c *record.Comparison) block {
	t := table{columns: []column{
		{head: text("head.workload"), flex: 10}, {head: text("head.arm"), flex: 10}, {head: text("head.old"), align: right},
		{head: text("head.new"), align: right}, {head: text("head.change"), align: right}, {head: text("head.answer")},
	}}
	group := func(name string, rows []row) {
		for i, r := range rows {
			if i == 0 {
				r[0] = cell{name, strong}
			}
			t.rows = append(t.rows, r)
		}
	}
	for _, name := range distinct(c.Changes, func(x record.Change) string { return x.Workload }) {
		group(name, slices.Concat(baselineRows(c, name), changeRows(c, name)))
	}
	var means []row
	for _, x := range c.Means {
		means = append(means, changeRow(x, c.Margin))
	}
	group(text("compare.mean"), means)
	b := block{title: overviewTitle(c), tables: []table{t}}
	if slices.ContainsFunc(slices.Concat(c.Changes, c.Means), func(x record.Change) bool { return x.Primary && shownToDiffer(x) }) {
		b.notes = append(b.notes, msg("compare.star"))
	}
	return b
}

// overviewTitle names the metrics and baselines of the table.
func overviewTitle(c *record.Comparison) string {
	var metrics, baselines arrange.Ordered
	for _, x := range c.Changes {
		if x.Primary {
			metrics.Add(x.Metric)
			baselines.Add(x.Baseline)
		}
	}
	return text("compare.overview", "metric", list(metrics), "baseline", list(baselines))
}

// baselineRows are the levels of the baselines of a workload.
func baselineRows(c *record.Comparison, workload string) (rows []row) {
	for _, l := range c.Levels {
		is := func(x record.Change) bool {
			return x.Primary && x.Workload == workload && x.Metric == l.Metric && x.Baseline == l.Arm
		}
		if l.Workload == workload && slices.ContainsFunc(c.Changes, is) {
			rows = append(rows, levelRow(l))
		}
	}
	return rows
}

func changeRows(c *record.Comparison, workload string) (rows []row) {
	for _, x := range c.Changes {
		if x.Workload == workload && x.Primary && (x.Subject || shownToDiffer(x)) {
			rows = append(rows, changeRow(x, c.Margin))
		}
	}
	return rows
}

func changeRow(x record.Change, margin float64) row {
	change := cell{aroundCell(x), verdictTone(x.Verdict)}
	return row{{}, {x.Arm, plain}, {percentOf(x.Before), plain}, {percentOf(x.After), plain}, change, verdictCell(record.Effect{Verdict: x.Verdict}, margin)}
}

// shownToDiffer reports whether a change is decided.
func shownToDiffer(x record.Change) bool {
	return x.Verdict == record.Cost || x.Verdict == record.Gain
}

func percentOf(r *record.Ratio) string {
	if r == nil {
		return none
	}
	return quantity.Percent(r.Ratio)
}

// aroundCell prints a change as "-1.1 % ±2.9", and a lopsided one with its bounds.
func aroundCell(x record.Change) string {
	star := " " // in line with those that have a star
	if shownToDiffer(x) {
		star = "*"
	}
	if x.Change == nil {
		return none + star
	}
	return around(x.Change) + star
}

// causes says what changed between the results, and how long runs would take that decide.
func causes(c *record.Comparison, details bool) block {
	var b block
	add := func(label string, s sentence) {
		b.items = append(b.items, item{label: cell{label, strong}, text: s})
	}
	switch {
	case !c.SameExperiment:
		add(text("compare.label.note"), msg("comparable.no"))
	case !c.SameHost:
		add(text("compare.label.note"), msg("comparable.hosts"))
	}
	add(text("compare.label.changed"), changed(c))
	if !details {
		for i, w := range warnings(&record.Effects{Warnings: c.Warnings}).items {
			if i == mostWarnings {
				add(text("compare.label.warning"), msg("compare.more", "n", len(c.Warnings)-i))
				break
			}
			add(text("compare.label.warning"), firstLine(w.text))
		}
	}
	if c.Needed > 0 {
		add(text("compare.label.next"), msg("compare.needed", "margin", quantity.Size(c.Margin), "time", quantity.About(c.Needed)))
	}
	return b
}

// How many differences and warnings stand below the table.
const mostChanged, mostWarnings = 6, 3

// changed lists the differences that may matter in one sentence.
func changed(c *record.Comparison) sentence {
	var all []string
	for _, d := range c.Differences {
		if d.Weight != record.WeightNone {
			all = append(all, d.What+" "+cmp.Or(d.Before, none)+" → "+cmp.Or(d.After, none))
		}
	}
	if len(all) == 0 {
		return msg("compare.alike")
	}
	if n := len(all) - mostChanged; n > 0 {
		all = append(all[:mostChanged:mostChanged], text("compare.more", "n", n))
	}
	return say(strings.Join(all, "; "))
}

// differences lists what may explain a change first.
func differences(c *record.Comparison) block {
	if len(c.Differences) == 0 {
		return block{}
	}
	t := table{columns: []column{{head: ""}, {head: text("head.old")}, {head: text("head.new")}, {head: text("compare.weight")}}}
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
	return block{tables: []table{t}}
}

// changes are the effects in both results, of the judged metrics or of the others.
func changes(c *record.Comparison, workload string, exploratory bool) block {
	t := table{columns: []column{
		{head: text("head.arm"), flex: 9}, {head: text("head.metric"), flex: 10}, {head: text("head.old"), align: interval, drop: 1}, {head: text("head.new"), align: interval, drop: 1},
		{head: text("head.change"), align: interval}, {head: text("head.answer")},
	}}
	var reasons arrange.Grouped[string]
	for _, x := range c.Changes {
		if x.Workload != workload || x.Exploratory != exploratory {
			continue
		}
		if x.Change == nil && x.Reason != "" || x.Verdict == record.Invalid {
			reasons.Add(x.Reason, x.Arm)
		}
		if x.Before == nil && x.After == nil {
			continue
		}
		t.rows = append(t.rows, row{
			{x.Arm, strong}, {x.Metric, plain}, {quantity.Interval(x.Before), plain}, {quantity.Interval(x.After), plain},
			{quantity.Interval(x.Change), verdictTone(x.Verdict)}, verdictCell(record.Effect{Verdict: x.Verdict}, c.Margin),
		})
	}
	b := block{}
	if len(t.rows) > 0 {
		b.tables = []table{t}
	}
	for why, arms := range reasons.All() {
		b.notes = append(b.notes, say(list(distinct(arms, func(s string) string { return s }))+": "+why+"."))
	}
	if exploratory && !b.empty() {
		b.title = text("compare.others")
	}
	return b
}

// levels are absolute numbers, of the same host only.
func levels(c *record.Comparison, workload string) block {
	t := table{columns: []column{
		{head: text("head.arm"), flex: 10}, {head: text("head.metric"), flex: 10}, {head: text("head.old"), align: right}, {head: text("head.new"), align: right}, {head: text("head.change"), align: right},
	}}
	for _, l := range c.Levels {
		_, known := l.Before.Get()
		if _, too := l.After.Get(); l.Workload != workload || !known && !too {
			continue
		}
		r := levelRow(l)
		t.rows = append(t.rows, row{{l.Arm, strong}, {l.Metric, plain}, r[2], r[3], r[4]})
	}
	if len(t.rows) == 0 {
		return block{}
	}
	return block{
		title:  text("compare.levels"),
		tables: []table{t},
	}
}

// levelRow is a level as a row of the overview.
func levelRow(l record.Level) row {
	show := showIn(l.Unit)
	change := cell{none, faint}
	if l.Ratio > 0 {
		change = cell{quantity.Percent(l.Ratio) + " ", faint}
	}
	return row{{}, {l.Arm, plain}, levelCell(l.Before, show), levelCell(l.After, show), change, {}}
}

func levelCell(v record.Value, show func(float64) string) cell {
	if x, ok := v.Get(); ok {
		return cell{show(x), plain}
	}
	return cell{none, faint}
}
