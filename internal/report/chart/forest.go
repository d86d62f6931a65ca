package chart

import (
	"html/template"
	"unicode/utf8"
)

// Forest is effects with their intervals around no effect, with the margin.
type Forest struct {
	Frame
	Rows   []Effect
	Margin float64 // half-width of the shaded band
	Noise  float64 // half-width between the dotted lines; 0 for none
	Tick   func(float64) string
	Less   string // what the left side means
	More   string // what the right side means
}

// Effect is one row. Numbers are changes: 0 is no effect.
type Effect struct {
	Label string
	Head  bool // a heading over the rows below, without numbers
	Text  string
	Word  string // the verdict
	Tone  string // bad, good, unsure, calm or broken: a class
	Known bool
	Span
	Loose bool     // the span is not the interval of the effect: drawn thin, without ends
	Own   *Span    // looked at alone, drawn thick
	Total *float64 // where it is told apart from the estimate
	Tip   string
}

// Draw draws the forest.
func (f Forest) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	var labels []string
	two := false // a label and its numbers do not fit into one line
	for _, r := range f.Rows {
		labels = append(labels, r.Label)
		two = two || float64(utf8.RuneCountInString(r.Label+r.Text+r.Word)+3)*charWidth > width
	}
	left, right, row, top := widest(154, 300, labels...)+14, width-262, 26.0, 22.0
	for _, r := range f.Rows {
		if len(r.Word) > 15 { // "within 5 %, unequal"
			right = width - 300
		}
	}
	if c.narrow() {
		left, right, row = 8, width-8, 46
		if two {
			row = 64
		}
	}
	var spans []Span
	for _, r := range f.Rows {
		if r.Known {
			spans = append(spans, r.Span)
		}
	}
	low, high := bounds(spans, max(2*f.Margin, 1.5*f.Noise))
	x := scale{low: low, high: high, from: left, to: right}
	bottom := top
	for _, r := range f.Rows {
		bottom += rowHeight(r.Head, row)
	}
	f.axis(c, x, top, bottom)
	y := top
	for _, r := range f.Rows {
		h := rowHeight(r.Head, row)
		f.row(c, x, r, y, h)
		y += h
	}
	c.height = bottom + 24
	return c.finish(f.Frame, "forest")
}

func rowHeight(head bool, row float64) float64 {
	if head {
		return 28
	}
	return row
}

func (f Forest) axis(c *canvas, x scale, top, bottom float64) {
	if f.Margin > 0 && x.low < f.Margin && x.high > -f.Margin {
		c.rect("margin", x.at(max(-f.Margin, x.low)), top, x.at(min(f.Margin, x.high))-x.at(max(-f.Margin, x.low)), bottom-top)
	}
	ticks := 8
	if c.narrow() {
		ticks = 5
	}
	for _, t := range x.ticks(ticks) {
		c.line("grid", x.at(t), top, x.at(t), bottom)
		c.tick(x.at(t), bottom+16, f.Tick(t))
	}
	if _, beyond := x.clamped(0); beyond == 0 {
		c.line("zero", x.at(0), top, x.at(0), bottom)
	}
	if f.Noise > 0 {
		for _, n := range []float64{-f.Noise, f.Noise} {
			if at, beyond := x.clamped(n); beyond == 0 {
				c.line("noise", at, top, at, bottom)
			}
		}
	}
	sides(c, x, top, f.Less, f.More)
}

// sides says what left and right mean, at the ends of the plot.
func sides(c *canvas, x scale, top float64, less, more string) {
	room := (x.to - x.from) / 2
	c.text(x.from, top-8, "side", "start", "← "+clip(less, room-24))
	c.text(x.to, top-8, "side", "end", clip(more, room-24)+" →")
}

func (f Forest) row(c *canvas, x scale, r Effect, y, h float64) {
	if r.Head {
		c.text(0, y+h-9, "group", "start", clip(r.Label, c.width))
		return
	}
	c.open("g", "class", "effect "+r.Tone)
	if r.Tip != "" {
		c.element("title", r.Tip)
	}
	mid := y + h/2
	if c.narrow() {
		line := y + h - 31
		c.text(0, y+15, "label", "start", clip(r.Label, c.width))
		c.text(c.width, line, "value", "end", r.Text+" "+r.Word)
		mid = line + 16
	} else {
		c.text(0, mid+4.5, "label", "start", clip(r.Label, x.from-14))
		c.text(x.to+158, mid+4.5, "value", "end", r.Text)
		c.text(x.to+168, mid+4.5, "word", "start", clip(r.Word, c.width-x.to-168))
	}
	if r.Known && r.ok() {
		mark(c, x, r, mid)
	}
	c.close("g")
}

// mark is the interval with its estimate; what lies outside ends in an arrow.
func mark(c *canvas, x scale, r Effect, y float64) {
	if r.Loose {
		from, _ := x.clamped(r.Low)
		to, _ := x.clamped(r.High)
		c.line("whisker", from, y, to, y)
	} else {
		whisker(c, "whisker", x, r.Low, r.High, y)
	}
	if r.Own != nil && r.Own.ok() {
		from, _ := x.clamped(r.Own.Low)
		to, _ := x.clamped(r.Own.High)
		c.line("own", from, y, to, y)
	}
	if r.Total != nil {
		if at, beyond := x.clamped(*r.Total); beyond == 0 {
			c.empty("path", "class", "total", "d", "M"+number(at)+" "+number(y-6)+"l4 6l-4 6l-4 -6z")
		}
	}
	at, _ := x.clamped(r.Mid)
	if r.Tone == "broken" {
		c.empty("path", "class", "dot", "d", "M"+number(at-4)+" "+number(y-4)+"l8 8m0 -8l-8 8")
		return
	}
	c.empty("circle", "class", "dot", "cx", at, "cy", y, "r", 4.5)
}

func whisker(c *canvas, class string, x scale, low, high, y float64) {
	from, under := x.clamped(low)
	to, over := x.clamped(high)
	c.line(class, from, y, to, y)
	end(c, from, y, under, -1)
	end(c, to, y, over, +1)
}

func end(c *canvas, x, y float64, beyond int, side float64) {
	if beyond == 0 {
		c.line("cap", x, y-4, x, y+4)
		return
	}
	c.empty("path", "class", "cap", "d", "M"+number(x-5*side)+" "+number(y-4)+"L"+number(x)+" "+number(y)+"L"+number(x-5*side)+" "+number(y+4))
}
