package chart

import (
	"html/template"
	"math"
	"strings"
)

// CDF is how values add up: for each value the share of all that is at most as
// large, on a logarithmic scale of values; one curve per row.
type CDF struct {
	Frame
	Rows      []Curve
	Low, High float64
	Tick      func(float64) string
}

// Curve is the shares of one row in equal parts of the logarithm.
type Curve struct {
	Label  string
	Shares []float64
	Tip    string
}

// colours is how many classes of colours there are beside that of the first
// curve; further curves are dashed.
const colours = 5

// Draw draws the curves with the names below.
func (d CDF) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	x := scale{low: d.Low, high: d.High, from: 52, to: width - 16, log: true}
	const top, bottom = 12.0, 252.0
	y := scale{low: 0, high: 1, from: bottom, to: top}
	ticks := 8
	if c.narrow() {
		ticks = 4
	}
	for _, t := range x.ticks(ticks) {
		c.line("grid", x.at(t), top, x.at(t), bottom)
		c.tick(x.at(t), bottom+16, d.Tick(t))
	}
	for _, t := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.line("grid", x.from, y.at(t), x.to, y.at(t))
		c.text(x.from-6, y.at(t)+4, "tick small", "end", number(100*t)+" %")
	}
	for i, r := range d.Rows {
		c.open("g", "class", "cumulated")
		if r.Tip != "" {
			c.element("title", r.Tip)
		}
		c.empty("path", "class", class(i), "d", stairs(r.Shares, x, y))
		c.close("g")
	}
	c.height = d.names(c, bottom+40) + 8
	return c.finish(d.Frame, "cdf")
}

func class(i int) string {
	if i == 0 {
		return "curve c0"
	}
	s := "curve c" + number(float64((i-1)%colours+1))
	if i > colours {
		s += " dashed"
	}
	return s
}

// stairs adds up the shares; the curve begins at 0 and ends where all are.
func stairs(shares []float64, x, y scale) string {
	var b strings.Builder
	w := (x.to - x.from) / math.Max(float64(len(shares)), 1)
	sum := 0.0
	b.WriteString("M" + number(x.from) + " " + number(y.at(0)))
	for i, s := range shares {
		sum += s
		b.WriteString("L" + number(x.from+float64(i+1)*w) + " " + number(y.at(min(max(sum, 0), 1))))
	}
	return b.String()
}

// names prints the names of the curves in lines and gives where they end.
func (d CDF) names(c *canvas, y float64) float64 {
	at := 8.0
	for i, r := range d.Rows {
		room := float64(len([]rune(r.Label)))*charWidth + 52
		if at > 8 && at+room > c.width {
			at, y = 8, y+20
		}
		c.empty("path", "class", class(i), "d", "M"+number(at)+" "+number(y-4)+"h24")
		c.text(at+30, y, "label", "start", clip(r.Label, c.width-at-30))
		at += room
	}
	return y
}
