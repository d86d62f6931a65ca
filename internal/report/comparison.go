package report

import (
	"cmp"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Comparison is what tare compare found: the two results, one table of the arms that matter, and what
// changed on the host. Details has every arm, metric, level and difference.
func (in Language) Comparison(c *record.Comparison, details bool) Document {
	d := Document{in: in, title: in.msg("compare.title", "experiment", c.After.Experiment)}
	d.add(section{blocks: []block{{items: []item{
		{label: cell{in.text("head.old"), strong}, text: in.sideSentence(c.Before)},
		{label: cell{in.text("head.new"), strong}, text: in.sideSentence(c.After)},
	}}}})
	d.add(section{blocks: []block{in.overview(c)}})
	d.add(section{blocks: []block{in.causes(c, details)}})
	if !details {
		return d
	}
	for _, name := range distinct(c.Changes, func(x record.Change) string { return x.Workload }) {
		d.add(section{title: name, about: in.text("compare.about"), fold: true, blocks: []block{
			in.changes(c, name, false), in.changes(c, name, true), in.levels(c, name),
		}})
	}
	d.add(section{title: in.text("compare.differs"), blocks: []block{in.differences(c)}, fold: true})
	d.add(section{title: in.text("head.warnings"), blocks: []block{in.warnings(&record.Effects{Warnings: c.Warnings})}})
	return d
}

func (in Language) sideSentence(s record.Side) sentence {
	what := s.Dir
	if s.Host.Name != "" {
		what += in.text("title.host", "host", s.Host.Name)
	}
	facts := []string{what}
	if s.Started != "" {
		facts = append(facts, started(s.Started))
	}
	if s.Seconds > 0 {
		facts = append(facts, quantity.Duration(s.Seconds))
	}
	out := say(in.commas(facts...))
	if word, torn := in.ended(s.Ended); torn {
		out = in.msg("join.comma", "before", out, "after", cell{word, broken})
	}
	return out
}

// overview is the table of what matters: the baselines' levels where both results are of one host, the
// subjects and the arms whose change is shown, and the geometric means.
func (in Language) overview(c *record.Comparison) block {
	t := table{columns: []column{
		{head: in.text("head.workload"), flex: 10}, {head: in.text("head.arm"), flex: 10}, {head: in.text("head.old"), align: right},
		{head: in.text("head.new"), align: right}, {head: in.text("head.change"), align: right}, {head: in.text("head.answer")},
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
		group(name, slices.Concat(baselineRows(c, name), in.changeRows(c, name)))
	}
	var means []row
	for _, x := range c.Means {
		means = append(means, in.changeRow(x))
	}
	group(in.text("compare.mean"), means)
	return block{title: in.overviewTitle(c), tables: []table{t}, notes: in.meanNotes(c)}
}

// meanNotes say of which loads the geometric means are.
func (in Language) meanNotes(c *record.Comparison) (notes []sentence) {
	for _, m := range c.Means {
		var loads arrange.Ordered
		for _, x := range c.Changes {
			if x.Primary && x.Subject && x.Arm == m.Arm && x.Metric == m.Metric && x.Baseline == m.Baseline {
				loads.Add(x.Workload)
			}
		}
		notes = append(notes, in.msg("compare.mean.of", "arm", m.Arm, "loads", in.list(loads)))
	}
	return notes
}

// overviewTitle names the metrics and baselines of the table.
func (in Language) overviewTitle(c *record.Comparison) string {
	var metrics, baselines arrange.Ordered
	for _, x := range c.Changes {
		if x.Primary {
			metrics.Add(in.static(x.Metric))
			baselines.Add(x.Baseline)
		}
	}
	return in.text("compare.overview", "metric", in.list(metrics), "baseline", in.list(baselines))
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

func (in Language) changeRows(c *record.Comparison, workload string) (rows []row) {
	for _, x := range c.Changes {
		if x.Workload == workload && x.Primary && (x.Subject || shownToDiffer(x)) {
			rows = append(rows, in.changeRow(x))
		}
	}
	return rows
}

func (in Language) changeRow(x record.Change) row {
	change := aroundCell(x)
	return row{cell{}, cell{x.Arm, plain}, cell{percentOf(x.Before), plain}, cell{percentOf(x.After), plain}, change, in.verdictCell(record.Effect{Verdict: x.Verdict, AtMost: x.AtMost})}
}

// shownToDiffer reports whether a change is decided.
func shownToDiffer(x record.Change) bool {
	return x.Verdict.Differs()
}

func percentOf(r *record.Ratio) string {
	if r == nil {
		return none
	}
	return quantity.Percent(r.Ratio)
}

// aroundCell prints a change as "-1.1 % ±2.9", and a lopsided one with its bounds.
func aroundCell(x record.Change) figure {
	f := figure{cell: cell{none, verdictTone(x.Verdict)}}
	if x.Change != nil {
		f.text, f.rest = around(x.Change)
	}
	if shownToDiffer(x) {
		f.mark = moved
	}
	return f
}

// causes says what changed between the results, and how long runs would take that decide.
func (in Language) causes(c *record.Comparison, details bool) block {
	var b block
	add := func(label string, s sentence) {
		b.items = append(b.items, item{label: cell{label, strong}, text: s})
	}
	switch {
	case !c.SameExperiment:
		add(in.text("compare.label.note"), in.msg("comparable.no"))
	case !c.SameHost && c.Before.Host.Name+c.After.Host.Name != "": // an import does not tell the host
		add(in.text("compare.label.note"), in.msg("comparable.hosts"))
	}
	add(in.text("compare.label.changed"), in.changed(c))
	if !details {
		for i, w := range in.warnings(&record.Effects{Warnings: c.Warnings}).items {
			if i == mostWarnings {
				add(in.text("compare.label.warning"), in.msg("compare.more", "n", len(c.Warnings)-i))
				break
			}
			add(in.text("compare.label.warning"), firstLine(w.text))
		}
	}
	if c.Needed > 0 {
		add(in.text("compare.label.next"), in.msg("compare.needed", "margin", quantity.Size(c.Margin), "time", in.about(c.Needed)))
	}
	return b
}

// How many differences and warnings stand below the table.
const mostChanged, mostWarnings = 6, 3

// changed lists the differences that may matter in one sentence.
func (in Language) changed(c *record.Comparison) sentence {
	var all []string
	for _, d := range c.Differences {
		if d.Weight != record.WeightNone {
			all = append(all, in.said(d.What)+" "+in.valueOf(d, d.Before)+" → "+in.valueOf(d, d.After))
		}
	}
	if len(all) == 0 {
		return in.msg("compare.alike")
	}
	if n := len(all) - mostChanged; n > 0 {
		all = append(all[:mostChanged:mostChanged], in.text("compare.more", "n", n))
	}
	return say(in.semicolons(all...))
}

// valueOf is the value of one side of a difference.
func (in Language) valueOf(d record.Difference, value string) string {
	if d.What.Code == "statistics" && value != "" {
		return in.text("compare.version", "n", value)
	}
	return cmp.Or(in.phrase(value), none)
}

// differences lists what may explain a change first.
func (in Language) differences(c *record.Comparison) block {
	if len(c.Differences) == 0 {
		return block{}
	}
	t := table{columns: []column{{head: ""}, {head: in.text("head.old")}, {head: in.text("head.new")}, {head: in.text("compare.weight")}}}
	for _, d := range c.Differences {
		what := in.said(d.What)
		if len(d.Where) > 0 {
			what = in.text("join.remark", "subject", what, "what", in.names(d.Where))
		}
		weight := map[record.Weight]cell{
			record.WeightExperiment: {in.text("weight.experiment"), broken}, record.WeightSetup: {in.text("weight.setup"), unsure}, record.WeightNone: {in.text("weight.none"), faint},
		}[d.Weight]
		t.rows = append(t.rows, row{cell{what, plain}, cell{in.valueOf(d, d.Before), plain}, cell{in.valueOf(d, d.After), plain}, weight})
	}
	return block{tables: []table{t}}
}

// changes are the effects in both results, of the judged metrics or of the others.
func (in Language) changes(c *record.Comparison, workload string, exploratory bool) block {
	t := table{columns: []column{
		{head: in.text("head.arm"), flex: 9}, {head: in.text("head.metric"), flex: 10}, {head: in.text("head.old"), align: interval, drop: 1}, {head: in.text("head.new"), align: interval, drop: 1},
		{head: in.text("head.change"), align: interval}, {head: in.text("head.answer")},
	}}
	var reasons arrange.Grouped[record.Said]
	for _, x := range c.Changes {
		if x.Workload != workload || x.Exploratory != exploratory {
			continue
		}
		if x.Change == nil && !x.Reason.IsZero() || x.Verdict == record.Invalid {
			reasons.Add(x.Reason, x.Arm)
		}
		if x.Before == nil && x.After == nil {
			continue
		}
		t.rows = append(t.rows, row{
			cell{x.Arm, strong}, cell{in.static(x.Metric), plain}, fractional(x.Before, plain), fractional(x.After, plain),
			fractional(x.Change, verdictTone(x.Verdict)), in.verdictCell(record.Effect{Verdict: x.Verdict, AtMost: x.AtMost}),
		})
	}
	b := block{}
	if len(t.rows) > 0 {
		b.tables = []table{t}
	}
	for why, arms := range reasons.All() {
		b.notes = append(b.notes, in.stop(in.colon(in.list(distinct(arms, func(s string) string { return s })), in.said(why))))
	}
	if exploratory && !b.empty() {
		b.title = in.text("compare.others")
	}
	return b
}

// levels are absolute numbers, of the same host only.
func (in Language) levels(c *record.Comparison, workload string) block {
	t := table{columns: []column{
		{head: in.text("head.arm"), flex: 10}, {head: in.text("head.metric"), flex: 10}, {head: in.text("head.old"), align: right}, {head: in.text("head.new"), align: right},
	}}
	for _, l := range c.Levels {
		_, known := l.Before.Get()
		if _, too := l.After.Get(); l.Workload != workload || !known && !too {
			continue
		}
		r := levelRow(l)
		t.rows = append(t.rows, row{cell{l.Arm, strong}, cell{in.static(l.Metric), plain}, r[2], r[3]})
	}
	if len(t.rows) == 0 {
		return block{}
	}
	return block{
		title:  in.text("compare.levels"),
		tables: []table{t},
	}
}

// levelRow is a level as a row of the overview. Between two runs a level has no interval, so it has no change.
func levelRow(l record.Level) row {
	show := showIn(l.Unit)
	return row{cell{}, cell{l.Arm, plain}, levelCell(l.Before, show), levelCell(l.After, show), cell{}, cell{}}
}

func levelCell(v record.Value, show func(float64) string) cell {
	if x, ok := v.Get(); ok {
		return cell{show(x), plain}
	}
	return cell{none, faint}
}
