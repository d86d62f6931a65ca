// Package chart draws tables with one small SVG drawing in each row, from data that is ready to be
// shown: numbers to place and words to print. It knows geometry and nothing of tare, looks at no clock
// and no machine, and gives the same bytes for the same data. Colours are classes of the page's style
// sheet.
//
// Labels and numbers are cells of the table, and places in a drawing are percent of its width. So one
// drawing fits every width, and no text is scaled or crossed by a line.
package chart

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// canvas collects the elements of a table of drawings.
type canvas struct{ b strings.Builder }

// html is what was drawn.
func (c *canvas) html() template.HTML {
	return template.HTML(c.b.String() + "\n") //nolint:gosec // every text and attribute went through escape
}

// open begins an element; attributes are names and values in turn, values
// are strings or numbers.
func (c *canvas) open(name string, attributes ...any) {
	c.b.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		value := ""
		switch v := attributes[i+1].(type) {
		case string:
			value = v
		case float64:
			value = number(v)
		}
		c.b.WriteString(" " + attributes[i].(string) + `="` + escape(value) + `"`)
	}
	c.b.WriteByte('>')
}

func (c *canvas) close(names ...string) {
	for _, name := range names {
		c.b.WriteString("</" + name + ">")
	}
}

// element is an element with a text.
func (c *canvas) element(name, text string, attributes ...any) {
	c.open(name, attributes...)
	c.b.WriteString(escape(text))
	c.close(name)
}

// line draws from one place to another; x in percent, y in pixels.
func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.element("line", "", "class", class, "x1", percent(x1), "x2", percent(x2), "y1", y1, "y2", y2)
}

// shape draws a path around a place.
func (c *canvas) shape(class string, x, y float64, d string) {
	c.open("svg", "class", class, "x", percent(x), "y", y)
	c.element("path", "", "d", d)
	c.close("svg")
}

// fill draws paths in a part of a drawing, whatever its size: their coordinates go from 0 to unit.
func (c *canvas) fill(x, y, width, height float64, paths ...[2]string) {
	c.open("svg", "x", percent(x), "y", y, "width", percent(width), "height", height, "viewBox", "0 0 1000 1000", "preserveAspectRatio", "none")
	for _, p := range paths {
		if p[1] != "" {
			c.element("path", "", "class", p[0], "d", p[1])
		}
	}
	c.close("svg")
}

// unit is the width and the height of a part that fill draws.
const unit = 1000

// plot begins the cell with the drawing of a row. A drawing of which the other cells say all has no
// description. The drawing with the id ground, if any, lies behind the whole cell.
func (c *canvas) plot(height float64, description, ground string) {
	c.open("td", "class", "plot")
	if ground != "" {
		c.behind(ground)
	}
	if description == "" {
		c.open("svg", "height", height, "aria-hidden", "true")
		return
	}
	c.open("svg", "height", height, "role", "img", "aria-label", description)
}

// behind fills the cell, whatever its height, with the drawing of this id.
func (c *canvas) behind(id string) {
	c.open("svg", "class", "ground", "aria-hidden", "true")
	c.element("use", "", "href", "#"+id)
	c.close("svg")
}

// label begins a row with its name and a note.
func (c *canvas) label(class, label, note string) {
	c.open("tr", "class", class)
	c.open("th", "scope", "row")
	c.b.WriteString(escape(label))
	if note != "" {
		c.b.WriteByte(' ')
		c.element("small", note)
	}
	c.close("th")
}

// axis is the row with the ticks of an axis; cells is how many cells stand before and behind it.
func (c *canvas) axis(x scale, tick func(float64) string, before, behind int, ground func()) {
	c.open("tr", "class", "axis")
	c.b.WriteString(strings.Repeat("<td></td>", before))
	c.plot(18, "", "")
	if ground != nil {
		c.open("defs")
		ground()
		c.close("defs")
	}
	for _, t := range x.ticks(5) {
		at, anchor := x.at(t), "middle"
		switch {
		case at < 3:
			anchor = "start"
		case at > 97:
			anchor = "end"
		}
		c.element("text", tick(t), "x", percent(at), "y", 14.0, "text-anchor", anchor)
	}
	c.close("svg", "td")
	c.b.WriteString(strings.Repeat("<td></td>", behind))
	c.close("tr")
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

func percent(x float64) string { return number(x) + "%" }

// number prints a coordinate with one decimal.
func number(x float64) string {
	x = math.Round(10*x) / 10
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 { // and not -0
		return "0"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
