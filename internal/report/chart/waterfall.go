package chart

import (
	"html/template"
	"unicode/utf8"
)

// Waterfall is a ladder: each step begins where the one above it ended.
type Waterfall struct {
	Frame
	Steps []Step
	Tick  func(float64) string
	Less  string
	More  string
}

// Step is one rung. Numbers are changes against the foot of the ladder.
type Step struct {
	Label string
	Note  string
	Text  string
	Tone  string
	Known bool
	From  float64
	To    float64
	// Low and High are the interval of the step, around To.
	Low, High float64
	Sum       bool // the whole ladder: drawn from 0
	Tip       string
}

// Draw draws the waterfall.
func (w Waterfall) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	var labels, notes []string
	for _, s := range w.Steps {
		labels, notes = append(labels, s.Label), append(notes, s.Note)
	}
	note := widest(104, 200, labels...) + 8
	left, right, row, top := note+widest(120, 190, notes...)+8, width-170, 28.0, 22.0
	if c.narrow() {
		left, right, row = 8, width-8, 46
	}
	var spans []Span
	for _, s := range w.Steps {
		if s.Known {
			spans = append(spans, Span{s.To, s.Low, s.High})
		}
	}
	low, high := bounds(spans, 0.005)
	x := scale{low: low, high: high, from: left, to: right}
	bottom := top + row*float64(len(w.Steps))
	ticks := 8
	if c.narrow() {
		ticks = 5
	}
	for _, t := range x.ticks(ticks) {
		c.line("grid", x.at(t), top, x.at(t), bottom)
		c.tick(x.at(t), bottom+16, w.Tick(t))
	}
	c.line("zero", x.at(0), top, x.at(0), bottom)
	sides(c, x, top, w.Less, w.More)
	for i, s := range w.Steps {
		w.step(c, x, s, note, top+row*float64(i), row, i+1 < len(w.Steps))
	}
	c.height = bottom + 24
	return c.finish(w.Frame, "waterfall")
}

func (w Waterfall) step(c *canvas, x scale, s Step, note, y, row float64, more bool) {
	kind := "step "
	if s.Sum {
		kind = "step sum "
	}
	c.open("g", "class", kind+s.Tone)
	if s.Tip != "" {
		c.element("title", s.Tip)
	}
	bar, height := y+6, row-12
	if c.narrow() {
		bar, height = y+21, 18
		c.text(0, y+15, "label", "start", clip(s.Label, c.width-float64(utf8.RuneCountInString(s.Text))*charWidth-8))
		c.text(c.width, y+15, "value", "end", s.Text)
	} else {
		c.text(0, y+row/2+4.5, "label", "start", clip(s.Label, note))
		c.text(note, y+row/2+4.5, "note", "start", clip(s.Note, x.from-note))
		c.text(c.width, y+row/2+4.5, "value", "end", s.Text)
	}
	if s.Known {
		from, _ := x.clamped(s.From)
		to, _ := x.clamped(s.To)
		class, fill := "bar", "none"
		if s.Tone == "unsure" || s.Tone == "broken" {
			class, c.hatch = "bar open", w.ID+"-hatch"
			if c.narrow() {
				c.hatch += "-narrow"
			}
			fill = "url(#" + c.hatch + ")"
		}
		c.empty("rect", "class", class, "fill", fill, "x", min(from, to)-0.5, "y", bar, "width", max(from, to)-min(from, to)+1, "height", height)
		whisker(c, "whisker", x, s.Low, s.High, bar+height/2)
		if more {
			c.line("link", to, bar+height, to, bar+row)
		}
	}
	c.close("g")
}
