package chart

import (
	"html/template"
	"math"
	"strings"
)

// Ridge is how values lie, one hill per row, all on one logarithmic scale. The
// outline of the first row is repeated in the others.
type Ridge struct {
	Frame
	Rows      []Hill
	Low, High float64
	Tick      func(float64) string
}

// Hill is the shares of one row in equal parts of the logarithm.
type Hill struct {
	Label  string
	Note   string
	Shares []float64
	Marks  []Mark
	Tip    string
}

// Mark is a named place, such as a quantile.
type Mark struct {
	At   float64
	Word string
}

// Draw draws the hills.
func (r Ridge) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	x := scale{low: r.Low, high: r.High, from: 190, to: width - 170, log: true}
	row, top, ticks := 50.0, 18.0, 8
	if c.narrow() {
		x.from, x.to, row, ticks = 8, width-8, 70, 4
	}
	bottom := top + row*float64(len(r.Rows))
	for _, t := range x.ticks(ticks) {
		c.line("grid", x.at(t), top, x.at(t), bottom)
		c.tick(x.at(t), bottom+16, r.Tick(t))
	}
	most := 0.0
	for _, h := range r.Rows {
		for _, s := range h.Shares {
			most = max(most, s)
		}
	}
	for i, h := range r.Rows {
		r.hill(c, x, i, h, most, top+row*float64(i), row)
	}
	c.height = bottom + 24
	return c.finish(r.Frame, "ridge")
}

func (r Ridge) hill(c *canvas, x scale, i int, h Hill, most, y, row float64) {
	foot, peak := y+row-4, y+8
	c.open("g", "class", "hill")
	if h.Tip != "" {
		c.element("title", h.Tip)
	}
	if c.narrow() {
		peak = y + 24
		c.text(0, y+15, "label", "start", clip(h.Label, 130))
		c.text(c.width, y+15, "note", "end", h.Note)
	} else {
		c.text(0, foot-12, "label", "start", clip(h.Label, x.from-14))
		c.text(c.width, foot-12, "note", "end", h.Note)
	}
	c.empty("path", "class", "area", "d", slope(h.Shares, most, x, peak, foot)+"z")
	if i > 0 {
		c.empty("path", "class", "outline", "d", slope(r.Rows[0].Shares, most, x, peak, foot))
	}
	c.line("foot", x.from, foot, x.to, foot)
	for _, m := range h.Marks {
		at, beyond := x.clamped(m.At)
		if beyond != 0 {
			continue
		}
		c.line("quantile", at, peak+4, at, foot+3)
		if i == 0 {
			c.text(at, peak+1, "tick small", "middle", m.Word)
		}
	}
	c.close("g")
}

// slope is the outline of a hill, from foot to foot.
func slope(shares []float64, most float64, x scale, peak, foot float64) string {
	var b strings.Builder
	b.WriteString("M" + number(x.from) + " " + number(foot))
	w := (x.to - x.from) / math.Max(float64(len(shares)), 1)
	for i, s := range shares {
		b.WriteString("L" + number(x.from+(float64(i)+0.5)*w) + " " + number(foot-(foot-peak)*s/math.Max(most, 1e-12)))
	}
	b.WriteString("L" + number(x.to) + " " + number(foot))
	return b.String()
}
