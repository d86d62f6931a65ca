package chart

import "html/template"

// Pair is two parts of a whole per row, side by side: what one side gets and
// what the other one keeps. 1 is all of it.
type Pair struct {
	Frame
	Rows        []Parts
	Left, Right string // headings
	Tick        func(float64) string
}

// Parts is one row.
type Parts struct {
	Label string
	Tone  string
	Left  *Span // nil: not known, or by definition none
	Right *Span
	// LeftText and RightText are the numbers, or why there are none.
	LeftText, RightText string
}

// Draw draws the pairs.
func (p Pair) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	left, right, row, top := 150.0, width-4, 40.0, 26.0
	if c.narrow() {
		left, right, row = 4, width-4, 58
	}
	middle := (left + right) / 2
	bottom := top + row*float64(len(p.Rows))
	a := p.side(c, func(r Parts) *Span { return r.Left }, p.Left, left, middle-14, top, bottom)
	b := p.side(c, func(r Parts) *Span { return r.Right }, p.Right, middle+14, right, top, bottom)
	for i, r := range p.Rows {
		p.row(c, r, a, b, top+row*float64(i), row)
	}
	c.height = bottom + 24
	return c.finish(p.Frame, "pair")
}

// side draws the axis of one side, from nothing to all, or as far as the
// estimates reach.
func (p Pair) side(c *canvas, of func(Parts) *Span, head string, from, to, top, bottom float64) scale {
	low, high := 0.0, 1.0
	for _, r := range p.Rows {
		if s := of(r); s != nil && s.ok() {
			low, high = min(low, 1.1*s.Mid, max(s.Low, -0.25)), max(high, 1.05*s.Mid, min(s.High, 1.5))
		}
	}
	pad := 0.04 * (high - low)
	x := scale{low: low - pad, high: high + pad, from: from, to: to}
	ticks := 5
	if c.narrow() {
		ticks = 3
	}
	for _, t := range x.ticks(ticks) {
		class := "grid"
		if t == 0 || t == 1 {
			class = "zero"
		}
		c.line(class, x.at(t), top, x.at(t), bottom)
		c.tick(x.at(t), bottom+16, p.Tick(t))
	}
	c.text(from, top-9, "side", "start", clip(head, to-from))
	return x
}

func (p Pair) row(c *canvas, r Parts, a, b scale, y, h float64) {
	c.open("g", "class", "effect "+r.Tone)
	c.element("title", r.Label+": "+p.Left+" "+r.LeftText+"; "+p.Right+" "+r.RightText)
	text, line := y+15, y+28
	if c.narrow() {
		text, line = y+33, y+46
		c.text(0, y+16, "label", "start", clip(r.Label, 160))
	} else {
		c.text(0, y+h/2+4, "label", "start", clip(r.Label, a.from-12))
	}
	for _, s := range []struct {
		x    scale
		span *Span
		text string
	}{{a, r.Left, r.LeftText}, {b, r.Right, r.RightText}} {
		c.text(s.x.to, text, "value small", "end", clip(s.text, s.x.to-s.x.from))
		if s.span != nil && s.span.ok() {
			mark(c, s.x, Effect{Tone: r.Tone, Span: *s.span}, line)
		}
	}
	c.close("g")
}
