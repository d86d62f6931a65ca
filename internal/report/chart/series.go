package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Series is a chart of points over time: one strip per arm, all on one scale.
type Series struct {
	Rows      []Strip
	From, To  float64              // time, seconds
	Low, High float64              // values
	Marks     []float64            // times of launches
	Tick      func(float64) string // label of a value
	Time      func(float64) string // label of a time
}

// Strip is the points of one row.
type Strip struct {
	Label   string
	Note    string
	Desc    string // what a reader who does not see it should know
	Points  []Point
	Dropped []Point
	Level   *float64 // value of the dashed line
}

// Point is one point in time.
type Point struct{ At, Value float64 }

// Sizes of a strip: its height in pixels, and in percent the width of the points, of a gap and of the
// histogram.
const (
	stripHeight = 58.0
	stripWidth  = 88.0
	spreadAt    = 90.0
	spreadWidth = 10.0
)

const (
	// bucket is the width of a bucket of time, in units. Of a bucket with more than two points only
	// the lowest and the highest are drawn.
	bucket = 4
	// mostDrawn is the number of points of a strip up to which all are drawn.
	mostDrawn = unit / bucket
	// MostMarks is the number of launches up to which a line is drawn for each.
	MostMarks = 60
	// bins is the number of bins of a histogram.
	bins = 24
)

// Thin says how many of all points are drawn.
func (s Series) Thin() (drawn, all int) {
	for _, r := range s.Rows {
		drawn, all = drawn+len(s.thinned(r.Points)), all+len(r.Points)
	}
	return drawn, all
}

// Draw draws the strips.
func (s Series) Draw() template.HTML {
	c := &canvas{}
	x := scale{low: s.From, high: s.To, span: stripWidth}
	c.open("table", "class", "chart series")
	c.open("tbody")
	for _, r := range s.Rows {
		s.strip(c, x, r)
	}
	c.axis(x, s.Time, 2, 0, nil)
	c.close("tbody", "table")
	return c.html()
}

func (s Series) strip(c *canvas, x scale, r Strip) {
	c.label("strip", r.Label, r.Note)
	c.open("td", "class", "ends")
	c.element("span", s.Tick(s.High))
	c.element("span", s.Tick(s.Low))
	c.close("td")
	c.plot(stripHeight, r.Desc, "")
	c.element("rect", "", "class", "field", "width", percent(stripWidth), "height", stripHeight)
	if len(s.Marks) <= MostMarks {
		for _, m := range s.Marks {
			if at, beyond := x.clamped(m); beyond == 0 {
				c.line("launch", at, 0, at, stripHeight)
			}
		}
	}
	v := scale{low: s.Low, high: s.High, span: stripHeight - 8}
	if r.Level != nil {
		if at, beyond := v.clamped(*r.Level); beyond == 0 {
			y := stripHeight - 4 - at
			c.line("level", 0, y, spreadAt+spreadWidth, y)
		}
	}
	c.fill(0, 4, stripWidth, stripHeight-8, [2]string{"dots", s.dots(r.Points)}, [2]string{"dots dropped", s.dots(r.Dropped)})
	c.fill(spreadAt, 4, spreadWidth, stripHeight-8, [2]string{"spread", s.bars(r.Points)})
	c.close("svg", "td", "tr")
}

// dots is the path of the points: a line of length 0 for each, which round line caps draw as a dot.
func (s Series) dots(points []Point) string {
	x, v := scale{low: s.From, high: s.To, span: unit}, scale{low: s.Low, high: s.High, span: unit}
	var b strings.Builder
	for _, p := range s.thinned(points) {
		at, _ := x.clamped(p.At)
		up, _ := v.clamped(p.Value)
		fmt.Fprintf(&b, "M%.0f %.0fh0", at, unit-up)
	}
	return b.String()
}

// bars is the path of the histogram of the points, the bin of the lowest values at the bottom.
func (s Series) bars(points []Point) string {
	var counts [bins]int
	most := 0
	v := scale{low: s.Low, high: s.High, span: bins}
	for _, p := range points {
		i := min(int(v.at(p.Value)), bins-1)
		counts[i]++
		most = max(most, counts[i])
	}
	var b strings.Builder
	for i, n := range counts {
		if n > 0 && s.High > s.Low {
			const h = float64(unit) / bins
			fmt.Fprintf(&b, "M0 %.0fh%.0fv%.0fH0z", unit-float64(i+1)*h, max(unit*float64(n)/float64(most), 10), h)
		}
	}
	return b.String()
}

// thinned are the points of a strip that are drawn: the lowest and the highest of every bucket of time.
func (s Series) thinned(points []Point) []Point {
	if len(points) <= mostDrawn {
		return points
	}
	x := scale{low: s.From, high: s.To, span: unit}
	var out []Point
	for start := 0; start < len(points); {
		piece := math.Floor(x.at(points[start].At) / bucket)
		least, most, stop := start, start, start+1
		for ; stop < len(points) && math.Floor(x.at(points[stop].At)/bucket) == piece; stop++ {
			if points[stop].Value < points[least].Value {
				least = stop
			}
			if points[stop].Value > points[most].Value {
				most = stop
			}
		}
		out = append(out, points[min(least, most)])
		if least != most {
			out = append(out, points[max(least, most)])
		}
		start = stop
	}
	return out
}
