package report

import (
	"html/template"
	"math"

	"github.com/tarelab/tare/internal/report/chart"
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
		v := priceView{ID: id + "-price" + csvNumber(float64(i+1)), Title: clean(upper(s.title)), About: clean(s.about)}
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
	f := chart.Pair{Left: clean(w.Name + " regains"), Right: clean(p.Neighbour.Name + " keeps"),
		Tick: func(x float64) string { return withUnit(percent100(x), "%") }}
	f.Frame = chart.Frame{ID: id + "-chart", Title: clean("What " + w.Name + " regains of the lost " + m.of + ", and what it costs the neighbour")}
	for _, r := range p.Rows {
		parts := priceRow(p, r)
		f.Rows = append(f.Rows, parts)
		f.Desc += clean(r.Arm+" regains "+parts.LeftText+", the neighbour keeps "+parts.RightText+", "+parts.Word) + ". "
	}
	t := priceTable(w, p)
	return &figure{ID: f.ID, Title: f.Title, Drawing: chart.Both(f.Draw), Caption: []string{
		"Left: the part of the loss beside " + clean(p.Neighbour.Name) + " that the mechanism gives back; 100 % is as fast as alone. " +
			"Right: the part of its own work that the neighbour keeps; 100 % is as much as without isolation. Right is better on both sides."},
		Tables: t.forms[0], Data: priceData(p), File: fileName(w, "price")}
}

func priceRow(p record.Price, r record.PriceRow) chart.Parts {
	unprotected := r.Arm == p.Unprotected
	back := find(r.Back, p.Primary)
	standing := standingCell(p, r)
	parts := chart.Parts{Label: clean(r.Arm), Word: clean(standing.text), Tone: toneClass[standing.tone],
		LeftText: shareCell(back, unprotected).text, RightText: keptCell(r, unprotected).text}
	switch {
	case r.Standing == record.Dominated:
		parts.Tone = "calm"
	case unprotected:
		parts.LeftText, parts.Tone = "no isolation", "calm"
		if classes(p) {
			parts.LeftText = "measured by it"
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

func priceData(p record.Price) template.URL {
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "neighbour", "arm", "isolation", "metric", "share_regained", "share_low", "share_high",
			"neighbour_work", "work_low", "work_high", "standing", "reason")
		for _, r := range p.Rows {
			for _, x := range r.Back {
				share, kept := record.Share{Share: math.NaN(), Low: math.NaN(), High: math.NaN()}, record.Ratio{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
				if x.Share != nil {
					share = *x.Share
				}
				if r.Kept != nil {
					kept = *r.Kept
				}
				b.row(p.Workload, p.Neighbour.Name, r.Arm, isolationWord(r), x.Metric,
					csvNumber(share.Share), csvNumber(share.Low), csvNumber(share.High),
					csvNumber(kept.Ratio), csvNumber(kept.Low), csvNumber(kept.High), r.Standing.String(), x.Reason)
			}
		}
		return nil
	})
}
