package report

import (
	"html/template"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// priceView is the price matrix of one neighbour.
type priceView struct {
	ID, Title, About string
	Figure           *figure
	Parts            []block
}

func newPriceViews(e *record.Effects, w workload, id string) []priceView {
	var views []priceView
	prices := pricesOf(e, w.Name)
	for i, s := range priceSections(e, w) {
		v := priceView{ID: id + "-price" + export.Number(float64(i+1)), Title: export.Clean(s.title), About: export.Clean(s.about)}
		v.Figure = priceFigure(w, prices[i], v.ID)
		for j, b := range s.blocks {
			if j == 0 && v.Figure != nil {
				b.forms = nil // it is the table of the figure
			}
			if !b.empty() {
				v.Parts = append(v.Parts, b)
			}
		}
		views = append(views, v)
	}
	return views
}

// priceFigure is what each mechanism gives back against what the neighbour
// keeps.
func priceFigure(w workload, p record.Price, id string) *figure {
	m := w.metricWord(p.Primary)
	f := chart.Pair{Left: export.Clean(text("price.left", "load", w.Name)), Right: export.Clean(text("price.right", "neighbour", p.Neighbour.Name)),
		Tick: func(x float64) string { return quantity.WithUnit(percent100(x), "%") }}
	f.Frame = chart.Frame{ID: id + "-chart", Title: export.Clean(text("price.figure", "load", w.Name, "metric", m.of))}
	for _, r := range p.Rows {
		parts := priceRow(p, r)
		f.Rows = append(f.Rows, parts)
		f.Desc += export.Clean(text("price.desc", "arm", r.Arm, "back", parts.LeftText, "kept", parts.RightText)) + ". "
	}
	t := priceTable(w, p)
	return &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{
		text("price.figure.key", "neighbour", export.Clean(p.Neighbour.Name))},
		Tables: t.forms[0], Data: priceData(p), File: fileName(w, "price")}
}

func priceRow(p record.Price, r record.PriceRow) chart.Parts {
	unprotected := r.Arm == p.Unprotected
	back := r.Of(p.Primary)
	parts := chart.Parts{Label: export.Clean(r.Arm), Tone: toneClass[priceTone(p, back.Share)],
		LeftText: shareCell(back, unprotected).text, RightText: keptCell(r, unprotected).text}
	if unprotected {
		parts.LeftText = text("price.unprotected")
		if p.OfClasses() {
			parts.LeftText = text("price.measure")
		}
		return parts
	}
	if back.Share != nil {
		parts.Left = &chart.Span{Mid: back.Share.Share, Low: back.Share.Low, High: back.Share.High}
	}
	if r.Kept != nil {
		parts.Right = &chart.Span{Mid: r.Kept.Ratio, Low: r.Kept.Low, High: r.Kept.High}
	}
	return parts
}

// priceTone is the tone of a row, by what the mechanism gives back.
func priceTone(p record.Price, back *record.Share) tone {
	switch {
	case p.Invalid != "":
		return broken
	case back == nil:
		return calm
	case back.Low > 0:
		return good
	case back.High < 0:
		return bad
	}
	return unsure
}

func priceData(p record.Price) template.URL {
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "neighbour", "arm", "isolation", "metric", "share_regained", "share_low", "share_high",
			"neighbour_work", "work_low", "work_high", "reason")
		for _, r := range p.Rows {
			for _, x := range r.Back {
				line := []string{p.Workload, p.Neighbour.Name, r.Arm, isolationWord(r), x.Metric}
				var share *record.Ratio
				if s := x.Share; s != nil {
					share = &record.Ratio{Ratio: s.Share, Low: s.Low, High: s.High}
				}
				line = append(append(line, export.Ratio(share)...), export.Ratio(r.Kept)...)
				b.row(append(line, x.Reason)...)
			}
		}
		return nil
	})
}
