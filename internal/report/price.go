package report

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
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
func (in Language) priceSections(e *record.Effects, w workload) []section {
	var all []section
	for _, p := range pricesOf(e, w.Name) {
		blocks := []block{in.priceTable(w, p), in.priceLatencies(w, p), in.explained(p)}
		s := section{
			title:  in.text("price.title", "load", w.Name, "neighbour", p.Neighbour.Name),
			about:  in.text("price.about"),
			blocks: blocks,
		}
		if p.OfClasses() {
			s.title = in.text("busy.title", "load", w.Name, "neighbour", p.Neighbour.Name, "environment", p.Neighbour.Environment)
			s.about = in.text("busy.about")
		}
		all = append(all, s)
	}
	return all
}

// aloneWord is what the rows are compared with: one arm, or each with its own.
func (in Language) aloneWord(p record.Price) string {
	if p.OfClasses() {
		return in.text("price.alone")
	}
	return p.Alone
}

// priceTable has one row per mechanism, in the primary metric of the workload.
func (in Language) priceTable(w workload, p record.Price) block {
	head := w.metricWord(p.Primary).head
	protection := column{head: in.text("price.isolation"), flex: 8, drop: 1}
	if p.OfClasses() {
		protection.head = in.text("price.in")
	}
	t := table{columns: []column{
		{head: in.text("head.arm"), flex: 10},
		protection,
		{head: in.text("price.against", "metric", head, "alone", in.aloneWord(p)), align: interval},
		{head: in.text("price.regained"), align: interval},
		{head: in.text("price.keeps"), align: interval},
		{head: in.text("price.work"), align: right, drop: 2},
	}}
	for _, r := range p.Rows {
		back := r.Of(p.Primary)
		t.rows = append(t.rows, row{
			cell{r.Arm, strong}, cell{in.isolationWord(r), plain}, ratioCell(back.Alone(), w.metricWord(p.Primary).more),
			shareCell(back, r.Arm == p.Unprotected), keptCell(r, r.Arm == p.Unprotected), workCell(p, r),
		})
	}
	b := block{tables: []table{t}}
	b.notes = in.priceNotes(p)
	return b
}

// priceLatencies has the other metrics of the matrix: each against the arm
// alone, and what part of the loss is regained.
func (in Language) priceLatencies(w workload, p record.Price) block {
	metrics := slices.DeleteFunc(slices.Clone(p.Metrics), func(m string) bool { return m == p.Primary })
	if len(metrics) == 0 {
		return block{}
	}
	b := block{title: in.text("price.others", "alone", in.aloneWord(p))}
	shown := slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return !regainedAny(p, m) })
	if len(shown) > 0 {
		b.tables = []table{in.latencyTable(w, p, shown)}
	}
	var why arrange.Ordered
	for _, r := range p.Rows {
		for _, m := range metrics {
			if x := r.Of(m); x.Share == nil && !x.Reason.IsZero() {
				why.Add(in.colon(w.metricWord(m).head, in.said(x.Reason)))
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
		x := r.Of(metric)
		return x.Alone() != nil || x.Share != nil
	})
}

func (in Language) latencyTable(w workload, p record.Price, metrics []string) table {
	t := table{panel: 2, columns: []column{{head: in.text("head.arm"), flex: 10}}}
	for _, m := range metrics {
		t.columns = append(t.columns, column{head: w.metricWord(m).head, align: right}, column{head: in.text("price.regained"), align: interval})
	}
	for _, r := range p.Rows {
		line := row{cell{r.Arm, plain}}
		for _, m := range metrics {
			back := r.Of(m)
			c := cell{none, faint}.figure()
			if back.Alone() != nil {
				c.text, c.rest = around(back.Alone())
				c.tone = ratioCell(back.Alone(), w.metricWord(m).more).tone
			}
			line = append(line, c, shareCell(back, r.Arm == p.Unprotected))
		}
		t.rows = append(t.rows, line)
	}
	return t
}

func (in Language) isolationWord(r record.PriceRow) string {
	if r.Environment != "" {
		return r.Environment
	}
	if len(r.Isolation) == 0 {
		return in.text("price.none")
	}
	return in.list(r.Isolation)
}

// ratioCell has a tone only where the interval excludes no effect.
func ratioCell(r *record.Ratio, more bool) figure {
	switch {
	case r == nil, r.Side() == 0:
		return fractional(r, plain)
	case (r.Side() > 0) == more:
		return fractional(r, good)
	}
	return fractional(r, bad)
}

// shareCell is a part of the loss with its interval: "85 % [56, 139]".
func shareCell(x record.Regained, unprotected bool) figure {
	switch {
	case unprotected:
		return figure{}
	case x.Share == nil:
		return cell{none, faint}.figure()
	}
	c := partFigure(x.Share.Share, x.Share.Low, x.Share.High)
	switch {
	case x.Share.Above(0):
		c.tone = good
	case x.Share.Below(0):
		c.tone = bad
	}
	return c
}

// keptCell is the neighbour's work over that without isolation.
func keptCell(r record.PriceRow, unprotected bool) figure {
	switch {
	case unprotected:
		return figure{cell: cell{"100 %", faint}}
	case r.Kept == nil:
		return cell{none, faint}.figure()
	}
	return partFigure(r.Kept.Ratio, r.Kept.Low, r.Kept.High)
}

// parts100 prints parts of a whole with their bounds, in whole percent.
func parts100(x, low, high float64) string { return partFigure(x, low, high).whole() }

func partFigure(x, low, high float64) figure {
	if !quantity.Finite(x) {
		return cell{none, plain}.figure()
	}
	return figure{cell{quantity.WithUnit(percent100(x), "%"), plain}, "[" + percent100(low) + ", " + percent100(high) + "]", ""}
}

func percent100(x float64) string {
	switch {
	case !quantity.Finite(x):
		return none
	case x >= 10 || x <= -10:
		return quantity.Short(100 * x)
	}
	s := fmt.Sprintf("%.0f", 100*x)
	if s == "-0" {
		return "0"
	}
	return s
}

func workCell(p record.Price, r record.PriceRow) cell {
	x, ok := r.Work.Get()
	if !ok || !quantity.Finite(x) {
		return cell{none, faint}
	}
	return cell{showIn(p.Neighbour.Unit)(x), plain}
}

// priceNotes say what the words of the table mean, and why numbers are missing.
func (in Language) priceNotes(p record.Price) []sentence {
	var notes []sentence
	if p.OfClasses() {
		notes = append(notes, in.msg("busy.note", "arm", p.Unprotected))
	}
	if !p.Invalid.IsZero() {
		notes = append(notes, in.msg("price.invalid", "reason", in.said(p.Invalid)))
	}
	var why arrange.Ordered
	for _, r := range p.Rows {
		if x := r.Of(p.Primary); !x.Reason.IsZero() && x.Share == nil && r.Arm != p.Unprotected {
			why.Add(in.colon(in.text("price.regained"), in.said(x.Reason)))
		}
		if !r.Reason.IsZero() {
			why.Add(in.colon(in.text("price.work"), in.said(r.Reason)))
		}
	}
	for _, s := range why {
		notes = append(notes, sentence{{none + " " + s, faint}})
	}
	return notes
}

// explained are the surprises, each with its numbers in the text.
func (in Language) explained(p record.Price) block {
	b := block{title: in.text("price.explained")}
	for _, x := range p.Explained {
		b.items = append(b.items, item{label: cell{x.Arm, strong}, text: in.stop(in.said(x.Text))})
	}
	return b
}
