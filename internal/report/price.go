package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// pricesOf are the price matrices of a workload.
func pricesOf(e *record.Effects, name string) []record.Price {
	var all []record.Price
	for _, p := range e.Prices {
		if p.Workload == name && len(p.Rows) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// priceSections show what each mechanism gives back and what the neighbour pays.
func priceSections(e *record.Effects, w workload) []section {
	var all []section
	for _, p := range pricesOf(e, w.Name) {
		blocks := []block{priceTable(w, p), priceLatencies(w, p), explained(p)}
		s := section{
			title:  "isolation of " + w.Name + " from " + p.Neighbour.Name,
			about:  "what each mechanism gives back, and what the neighbour pays",
			blocks: blocks,
		}
		if classes(p) {
			s.title = w.Name + " beside " + p.Neighbour.Name + " (" + p.Neighbour.Environment + ")"
			s.about = "what a busy node costs each arm"
		}
		all = append(all, s)
	}
	return all
}

// aloneWord is what the rows are compared with: one arm, or each with its own.
func aloneWord(p record.Price) string {
	if classes(p) {
		return "alone"
	}
	return p.Alone
}

// priceTable has one row per mechanism, in the primary metric of the workload.
func priceTable(w workload, p record.Price) block {
	head := w.metricWord(p.Primary).head
	protection := column{head: "isolation", flex: 8}
	if classes(p) {
		protection.head = "in"
	}
	t := table{columns: []column{
		{head: "arm", flex: 10},
		protection,
		{head: head + " against " + aloneWord(p), align: interval},
		{head: "regained", align: interval},
		{head: "neighbour keeps", align: interval},
		{head: "its work", align: right},
		{head: "standing", flex: 17},
	}}
	for _, r := range p.Rows {
		back := find(r.Back, p.Primary)
		t.rows = append(t.rows, row{
			{r.Arm, strong}, {isolationWord(r), plain}, ratioCell(back.Alone, w.metricWord(p.Primary).more),
			shareCell(back, r.Arm == p.Unprotected), keptCell(r, r.Arm == p.Unprotected), workCell(p, r), standingCell(p, r),
		})
	}
	const isolation, its = 1, 5
	b := block{forms: [][]table{{t}, {t.without(isolation)}, {t.without(isolation, its)}, {t.without(isolation, its).tightly()}}}
	b.notes = priceNotes(p)
	return b
}

// priceLatencies has the other metrics of the matrix: each against the arm
// alone, and what part of the loss is regained.
func priceLatencies(w workload, p record.Price) block {
	metrics := slices.DeleteFunc(slices.Clone(p.Metrics), func(m string) bool { return m == p.Primary })
	if len(metrics) == 0 {
		return block{}
	}
	b := block{title: "change against " + aloneWord(p) + " in %, and how much of the loss is regained"}
	shown := slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return !regainedAny(p, m) })
	for per := len(shown); per > 0; per-- {
		var form []table
		for part := range slices.Chunk(shown, per) {
			form = append(form, latencyTable(w, p, part))
		}
		b.forms = append(b.forms, form)
	}
	var why ordered
	for _, r := range p.Rows {
		for _, m := range metrics {
			if x := find(r.Back, m); x.Share == nil && x.Reason != "" {
				why.add(w.metricWord(m).head + ": " + x.Reason)
			}
		}
	}
	for _, s := range why {
		b.notes = append(b.notes, sentence{{none + " " + s, faint}})
	}
	return b
}

// regainedAny says that there is a number of a metric in any row.
func regainedAny(p record.Price, metric string) bool {
	return slices.ContainsFunc(p.Rows, func(r record.PriceRow) bool {
		x := find(r.Back, metric)
		return x.Alone != nil || x.Share != nil
	})
}

func latencyTable(w workload, p record.Price, metrics []string) table {
	t := table{columns: []column{{head: "arm", flex: 10}}}
	for _, m := range metrics {
		t.columns = append(t.columns, column{head: w.metricWord(m).head, align: right}, column{head: "regained", align: interval})
	}
	for _, r := range p.Rows {
		line := row{{r.Arm, plain}}
		for _, m := range metrics {
			back := find(r.Back, m)
			c := cell{none, faint}
			if back.Alone != nil {
				c = cell{around(back.Alone), ratioCell(back.Alone, w.metricWord(m).more).tone}
			}
			line = append(line, c, shareCell(back, r.Arm == p.Unprotected))
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func find(all []record.Regained, metric string) record.Regained {
	for _, x := range all {
		if x.Metric == metric {
			return x
		}
	}
	return record.Regained{}
}

func isolationWord(r record.PriceRow) string {
	if r.Environment != "" {
		return r.Environment
	}
	if len(r.Isolation) == 0 {
		return "none"
	}
	return strings.Join(r.Isolation, " and ")
}

// ratioCell has a tone only where the interval excludes no effect.
func ratioCell(r *record.Ratio, more bool) cell {
	switch {
	case r == nil:
		return cell{none, faint}
	case r.Low <= 1 && r.High >= 1:
		return cell{Interval(r), plain}
	case (r.Low > 1) == more:
		return cell{Interval(r), good}
	}
	return cell{Interval(r), bad}
}

// shareCell is a part of the loss with its interval: "85 % [56, 139]".
func shareCell(x record.Regained, unprotected bool) cell {
	switch {
	case unprotected:
		return cell{}
	case x.Share == nil:
		return cell{none, faint}
	}
	c := cell{parts100(x.Share.Share, x.Share.Low, x.Share.High), plain}
	switch {
	case x.Share.Low > 0:
		c.tone = good
	case x.Share.High < 0:
		c.tone = bad
	}
	return c
}

// keptCell is the neighbour's work over that without isolation.
func keptCell(r record.PriceRow, unprotected bool) cell {
	switch {
	case unprotected:
		return cell{"100 %", faint}
	case r.Kept == nil:
		return cell{none, faint}
	}
	return cell{parts100(r.Kept.Ratio, r.Kept.Low, r.Kept.High), plain}
}

// parts100 prints parts of a whole with their bounds, in whole percent.
func parts100(x, low, high float64) string {
	if !finite(x) {
		return none
	}
	return withUnit(percent100(x), "%") + " [" + percent100(low) + ", " + percent100(high) + "]"
}

func percent100(x float64) string {
	switch {
	case !finite(x):
		return none
	case x >= 10 || x <= -10:
		return short(100 * x)
	}
	s := fmt.Sprintf("%.0f", 100*x)
	if s == "-0" {
		return "0"
	}
	return s
}

func workCell(p record.Price, r record.PriceRow) cell {
	x, ok := r.Work.Get()
	if !ok || !finite(x) {
		return cell{none, faint}
	}
	return cell{showIn(p.Neighbour.Unit)(x), plain}
}

func standingCell(p record.Price, r record.PriceRow) cell {
	switch {
	case p.Invalid != "":
		return cell{"invalid", broken}
	case r.Standing == record.Dominated:
		return cell{"dominated by " + list(r.By), bad}
	case r.Standing == record.Undominated:
		return cell{"not dominated", good}
	case r.Standing == record.StandingOpen:
		return cell{"open", unsure}
	}
	return cell{none, faint}
}

// priceNotes say what the words of the table mean, and why numbers are missing.
func priceNotes(p record.Price) []sentence {
	var notes []sentence
	if classes(p) {
		notes = append(notes, sentence{{"Each arm is compared with the one in the same environment without the neighbour; what is regained, and what the neighbour keeps, is measured by " +
			p.Unprotected + ".", faint}})
	}
	if p.Invalid != "" {
		notes = append(notes, sentence{{"invalid", broken}, {": " + p.Invalid + ".", plain}})
	}
	if at := func(s record.Standing) bool {
		return slices.ContainsFunc(p.Rows, func(r record.PriceRow) bool { return r.Standing == s })
	}; p.Invalid == "" && at(record.StandingOpen) {
		notes = append(notes, sentence{{"open", unsure},
			{": it is not shown that another mechanism gives both sides as much and one of them more, nor that none does.", plain}})
	}
	var why ordered
	for _, r := range p.Rows {
		if x := find(r.Back, p.Primary); x.Reason != "" && x.Share == nil && r.Arm != p.Unprotected {
			why.add("regained: " + x.Reason)
		}
		if r.Reason != "" {
			why.add("its work: " + r.Reason)
		}
	}
	for _, s := range why {
		notes = append(notes, sentence{{none + " " + s, faint}})
	}
	return notes
}

// explained are the surprises, each with its numbers in the text.
func explained(p record.Price) block {
	b := block{title: "what the probes say about it"}
	for _, x := range p.Explained {
		b.items = append(b.items, item{cell{x.Arm, strong}, say(x.Text + ".")})
	}
	return b
}

// priced is the answer of a workload with a neighbour: the loss, and the
// mechanism that gives most of it back.
func priced(e *record.Effects, w workload, p record.Price) sentence {
	x, ok := w.effect[key{p.Primary, p.Unprotected}]
	if !ok || x.Baseline != p.Alone {
		return nil
	}
	s := verdict(e, w, "the neighbour "+p.Neighbour.Name, x)
	if x.Verdict != record.Cost {
		return s
	}
	var best *record.PriceRow
	for i := range p.Rows {
		r := &p.Rows[i]
		if back := find(r.Back, p.Primary); back.Share != nil && back.Share.Low > 0 &&
			(best == nil || back.Share.Share > find(best.Back, p.Primary).Share.Share) {
			best = r
		}
	}
	if best == nil {
		return append(s, cell{" No mechanism is shown to give any of it back.", plain})
	}
	share := find(best.Back, p.Primary).Share
	s = append(s, cell{" " + best.Arm + " gives ", plain},
		cell{withUnit(percent100(share.Share), "%") + " of that back", good},
		cell{fmt.Sprintf(" [%s, %s]", percent100(share.Low), percent100(share.High)), plain})
	if best.Kept != nil {
		s = append(s, cell{" and leaves the neighbour " + parts100(best.Kept.Ratio, best.Kept.Low, best.Kept.High) + " of its work", plain})
	}
	return append(s, cell{".", plain})
}

// pricedAll is the answers for all neighbours; nil without a matrix.
func pricedAll(e *record.Effects, w workload) sentence {
	var s sentence
	for _, p := range pricesOf(e, w.Name) {
		if classes(p) {
			continue
		}
		part := priced(e, w, p)
		if len(s) > 0 && len(part) > 0 {
			s = append(s, cell{" ", plain})
		}
		s = append(s, part...)
	}
	return s
}
