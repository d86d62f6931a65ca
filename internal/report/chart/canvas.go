// Package chart draws SVG from data that is ready to be shown: numbers to
// place and words to print. It knows geometry and nothing of tare, looks at no
// clock and no machine, and gives the same bytes for the same data. Colours
// are classes that the page's style sheet knows.
//
// Every chart is drawn twice, for a wide and for a narrow page, because text
// in a drawing that is merely scaled cannot be read on a telephone.
package chart

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Widths of a drawing in CSS pixels.
const (
	Wide   = 860
	Narrow = 360
)

// Frame is what every chart has.
type Frame struct {
	ID    string // unique in the page
	Title string
	Desc  string // what a reader who does not see it should know
}

// Both draws a chart for both widths.
func Both(draw func(width float64) template.HTML) template.HTML {
	return draw(Wide) + draw(Narrow)
}

// canvas collects the elements of one drawing.
type canvas struct {
	b             strings.Builder
	width, height float64
	hatch         string // the name of a pattern that was used
}

func (c *canvas) narrow() bool { return c.width < 500 }

// finish puts the elements into a drawing with its title and description.
func (c *canvas) finish(f Frame, kind string) template.HTML {
	var out canvas
	id, size := f.ID, "wide"
	if c.narrow() {
		id, size = f.ID+"-narrow", "narrow"
	}
	out.open("svg", "xmlns", "http://www.w3.org/2000/svg", "class", "chart "+kind+" "+size, "role", "img",
		"viewBox", "0 0 "+number(c.width)+" "+number(c.height),
		"aria-labelledby", id+"-t "+id+"-d")
	out.element("title", f.Title, "id", id+"-t")
	out.element("desc", f.Desc, "id", id+"-d")
	if c.hatch != "" {
		out.open("defs")
		out.open("pattern", "id", c.hatch, "width", 6.0, "height", 6.0, "patternUnits", "userSpaceOnUse", "patternTransform", "rotate(45)")
		out.empty("line", "class", "hatch", "x1", 0.0, "y1", 0.0, "x2", 0.0, "y2", 6.0)
		out.close("pattern")
		out.close("defs")
	}
	out.b.WriteString(c.b.String())
	out.close("svg")
	return template.HTML(out.b.String() + "\n") //nolint:gosec // every text and attribute went through escape
}

// open begins an element; attributes are names and values in turn, values
// are strings or numbers.
func (c *canvas) open(name string, attributes ...any) {
	c.b.WriteByte('<')
	c.b.WriteString(name)
	c.attributes(attributes)
	c.b.WriteByte('>')
}

func (c *canvas) attributes(attributes []any) {
	for i := 0; i+1 < len(attributes); i += 2 {
		value := ""
		switch v := attributes[i+1].(type) {
		case string:
			value = v
		case float64:
			value = number(v)
		}
		c.b.WriteByte(' ')
		c.b.WriteString(attributes[i].(string))
		c.b.WriteString(`="`)
		c.b.WriteString(escape(value))
		c.b.WriteByte('"')
	}
}

func (c *canvas) close(name string) { c.b.WriteString("</" + name + ">") }

// element is an element with a text.
func (c *canvas) element(name, text string, attributes ...any) {
	c.open(name, attributes...)
	c.b.WriteString(escape(text))
	c.close(name)
}

// empty is an element without content.
func (c *canvas) empty(name string, attributes ...any) {
	c.b.WriteByte('<')
	c.b.WriteString(name)
	c.attributes(attributes)
	c.b.WriteString("/>")
}

// text prints a label; anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	c.element("text", s, "x", x, "y", y, "class", class, "text-anchor", anchor)
}

// tick prints the label of an axis, drawn in where it would leave the drawing.
func (c *canvas) tick(x, y float64, s string) {
	half := float64(utf8.RuneCountInString(s)) * tickWidth / 2
	c.text(min(max(x, half), c.width-half), y, "tick", "middle", s)
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.empty("line", "class", class, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

func (c *canvas) rect(class string, x, y, w, h float64) {
	c.empty("rect", "class", class, "x", x, "y", y, "width", max(w, 0), "height", max(h, 0))
}

// escape makes any text fit for an element or an attribute.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s))
}

// number prints a coordinate to a tenth of a pixel.
func number(x float64) string {
	x = math.Round(10*x) / 10
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 { // and not -0
		return "0"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// tickWidth is about the width of a sign of a tick: signs and per cent are wide.
const tickWidth = 8.2

// charWidth is about the width of a letter of a 13 px label.
const charWidth = 6.9

// widest is the room that labels take, at least and at most.
func widest(least, most float64, labels ...string) float64 {
	room := least
	for _, l := range labels {
		room = max(room, float64(utf8.RuneCountInString(l)+1)*charWidth)
	}
	return min(room, most)
}

// clip cuts a label to a width and shows that it did.
func clip(s string, width float64) string {
	n := int(width / charWidth)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:max(n-1, 1)]) + "…"
}
