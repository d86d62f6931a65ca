package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Hills is how the values of some rows lie, all on one logarithmic scale. The outline of the first row
// is repeated in the others.
type Hills struct {
	Rows      []Hill
	Low, High float64
	Tick      func(float64) string
}

// Hill is the shares of one row in equal parts of the logarithm.
type Hill struct {
	Label  string
	Note   string
	Desc   string // what a reader who does not see it should know
	Shares []float64
}

// hillHeight is the height of a row, in pixels.
const hillHeight = 46.0

// Draw draws the hills.
func (h Hills) Draw() template.HTML {
	c := &canvas{}
	most := 0.0
	for _, r := range h.Rows {
		for _, s := range r.Shares {
			most = max(most, s)
		}
	}
	c.open("table", "class", "chart hills")
	c.open("tbody")
	for i, r := range h.Rows {
		c.label("hill", r.Label, r.Note)
		c.plot(hillHeight, r.Desc)
		paths := [][2]string{{"area", slope(r.Shares, most)}}
		if i > 0 {
			paths = append(paths, [2]string{"outline", slope(h.Rows[0].Shares, most)})
		}
		c.fill(0, 4, 100, hillHeight-4, paths...)
		c.close("svg", "td", "tr")
	}
	c.axis(scale{low: h.Low, high: h.High, log: true}, h.Tick, 1, 0, nil)
	c.close("tbody", "table")
	return c.html()
}

// slope is the outline of a hill, from foot to foot.
func slope(shares []float64, most float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %d", unit)
	for i, s := range shares {
		up := min(max(s/math.Max(most, 1e-12), 0), 1)
		if math.IsNaN(up) {
			up = 0
		}
		fmt.Fprintf(&b, "L%.0f %.0f", (float64(i)+0.5)*unit/float64(len(shares)), unit-unit*up)
	}
	fmt.Fprintf(&b, "L%d %dz", unit, unit)
	return b.String()
}
