package chart

import "html/template"

// Forest is effects with their intervals around no effect, with the margin.
type Forest struct {
	ID     string // unique in the page
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
	Note  string // behind the label
	Head  bool   // a heading over the rows below, without numbers
	Text  string
	Word  string // the verdict
	Tone  string // bad, good, unsure, calm or broken: a class, and a shape
	Known bool
	Span
	Loose bool // the span is not the interval of the effect: drawn thin, without ends
}

// rowHeight is the height of a row's drawing, in pixels.
const rowHeight = 24.0

// shapes tell the tones apart without a colour: worse points down, better points up, undecided is
// hollow, the same is a diamond, invalid is crossed out.
var shapes = map[string]string{
	"bad":    "M-6 -5h12l-6 10z",
	"good":   "M-6 5h12l-6 -10z",
	"unsure": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
	"calm":   "M-5.5 0l5.5 -5.5l5.5 5.5l-5.5 5.5z",
	"broken": "M-5 -5l10 10m0 -10l-10 10",
}

// Draw draws the forest.
func (f Forest) Draw() template.HTML {
	var spans []Span
	for _, r := range f.Rows {
		if r.Known {
			spans = append(spans, r.Span)
		}
	}
	var x scale
	x.low, x.high = bounds(spans, max(2*f.Margin, 1.5*f.Noise, 0.005))
	c := &canvas{}
	c.open("table", "class", "chart forest", "id", f.ID)
	c.open("thead")
	c.open("tr", "class", "axis")
	c.element("td", "")
	c.open("td", "class", "plot")
	c.element("span", "← "+f.Less, "class", "side")
	c.element("span", f.More+" →", "class", "side")
	c.close("td")
	c.b.WriteString("<td></td><td></td>")
	c.close("tr", "thead")
	c.open("tbody")
	for _, r := range f.Rows {
		f.row(c, x, r)
	}
	c.axis(x, f.Tick, 1, 2, func() { f.ground(c, x) })
	c.close("tbody", "table")
	return c.html()
}

func (f Forest) groundID() string { return f.ID + "-ground" }

// ground is what lies behind every row, as high as the row: its lines have no gaps between rows.
func (f Forest) ground(c *canvas, x scale) {
	c.open("g", "id", f.groundID())
	if low, high := max(-f.Margin, x.low), min(f.Margin, x.high); low < high {
		c.element("rect", "", "class", "margin", "x", percent(x.at(low)), "width", percent(x.at(high)-x.at(low)), "height", "100%")
	}
	vertical := func(class string, value float64) {
		if at, beyond := x.clamped(value); beyond == 0 {
			c.element("line", "", "class", class, "x1", percent(at), "x2", percent(at), "y2", "100%")
		}
	}
	for _, t := range x.ticks(5) {
		vertical("grid", t)
	}
	vertical("zero", 0)
	if f.Noise > 0 {
		vertical("noise", -f.Noise)
		vertical("noise", f.Noise)
	}
	c.close("g")
}

func (f Forest) row(c *canvas, x scale, r Effect) {
	if r.Head {
		c.open("tr", "class", "group")
		c.element("th", r.Label, "scope", "rowgroup")
		c.open("td", "class", "behind")
		c.behind(f.groundID())
		c.close("td")
		c.b.WriteString("<td></td><td></td>")
		c.close("tr")
		return
	}
	tone := r.Tone
	if r.Loose {
		tone += " loose"
	}
	c.label("effect "+tone, r.Label, r.Note)
	c.plot(rowHeight, "", f.groundID())
	if r.Known && r.ok() {
		mark(c, x, r)
	}
	c.close("svg", "td")
	c.element("td", r.Text, "class", "value")
	c.element("td", r.Word, "class", "word")
	c.close("tr")
}

// mark is the interval with its estimate; what lies outside ends in an arrow.
func mark(c *canvas, x scale, r Effect) {
	const y = rowHeight / 2
	from, under := x.clamped(r.Low)
	to, over := x.clamped(r.High)
	c.line("whisker", from, y, to, y)
	if !r.Loose {
		end(c, from, y, under, "M6 -4L1 0L6 4")
		end(c, to, y, over, "M-6 -4L-1 0L-6 4")
	}
	at, _ := x.clamped(r.Mid)
	c.shape("mark", at, y, shapes[r.Tone])
}

func end(c *canvas, x, y float64, beyond int, arrow string) {
	if beyond == 0 {
		c.line("whisker", x, y-4, x, y+4)
		return
	}
	c.shape("arrow", x, y, arrow)
}
