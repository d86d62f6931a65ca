package chart

import (
	"html/template"
	"math"
	"strings"
)

// Series is a chart of points over time: one strip per arm, all on one scale.
type Series struct {
	Frame
	Rows      []Strip
	From, To  float64                        // time, seconds
	Low, High float64                        // values
	Marks     []float64                      // times of launches
	Tick      func(float64) string           // label of a value
	Time      func(float64) string           // label of a time
	Point     func(at, value float64) string // tooltip of a point
}

// Strip is the points of one row.
type Strip struct {
	Label   string
	Note    string
	Points  []Point
	Dropped []Point
	Level   *float64 // value of the dashed line
	Spread  []int    // histogram of the values, in bins of equal width from Low to High
}

// Point is one point in time.
type Point struct{ At, Value float64 }

// Thinned is how many of all points are drawn.
type Thinned struct{ Kept, All int }

const (
	// bucket is the width of a bucket of time, in pixels. Of a bucket with more than two points only
	// the lowest and the highest are drawn.
	bucket = 2
	// mostUnthinned is the number of points of a strip up to which all are drawn in a wide chart,
	// in which readers can zoom.
	mostUnthinned = 1000
)

// Thin says what a drawing of this width leaves out.
func (s Series) Thin(width float64) Thinned {
	x, _ := s.timeScale(width)
	var t Thinned
	for _, r := range s.Rows {
		t.All += len(r.Points)
		t.Kept += len(s.thinned(r.Points, x))
	}
	return t
}

// timeScale returns the scale of the time axis in a drawing of this width, and the width of the
// histogram to the right of it.
func (s Series) timeScale(width float64) (x scale, spread float64) {
	if width < 500 {
		return scale{low: s.From, high: s.To, from: 46, to: width - 50}, 42
	}
	return scale{low: s.From, high: s.To, from: 190, to: width - 96}, 86
}

// Draw draws the strips.
func (s Series) Draw(width float64) template.HTML {
	c := &canvas{width: width}
	x, spread := s.timeScale(width)
	row, top := 54.0, 8.0
	if c.narrow() {
		row = 66
	}
	bottom := top + row*float64(len(s.Rows))
	ticks := 8
	if c.narrow() {
		ticks = 4
	}
	for _, m := range s.Marks {
		if at, beyond := x.clamped(m); beyond == 0 {
			c.empty("line", "class", "launch", "x1", at, "x2", at, "y1", top, "y2", bottom, "data-at", at)
		}
	}
	for _, t := range x.ticks(ticks) {
		c.element("text", s.Time(t), "class", "tick time", "x", x.at(t), "y", bottom+16, "text-anchor", "middle", "data-at", x.at(t))
	}
	for i, r := range s.Rows {
		s.strip(c, x, i == 0, r, top+row*float64(i), row, spread)
	}
	c.height = bottom + 24
	return c.finish(s.Frame, "series")
}

func (s Series) strip(c *canvas, x scale, first bool, r Strip, y, row, spread float64) {
	upper, lower := y+5, y+row-7
	if c.narrow() {
		upper = y + 20
		c.text(0, y+13, "label", "start", clip(r.Label, 170))
		c.text(c.width, y+13, "note", "end", r.Note)
	} else {
		c.text(0, y+22, "label", "start", clip(r.Label, 128))
		c.text(0, y+39, "note", "start", clip(r.Note, 140))
	}
	v := scale{low: s.Low, high: s.High, from: lower - 3, to: upper + 3}
	c.rect("field", x.from, upper, x.to-x.from, lower-upper)
	if first {
		c.text(x.from-5, upper+8, "tick small", "end", s.Tick(s.High))
		if s.High > s.Low {
			c.text(x.from-5, lower, "tick small", "end", s.Tick(s.Low))
		}
	}
	if r.Level != nil {
		if at, beyond := v.clamped(*r.Level); beyond == 0 {
			c.line("level", x.from, at, x.to+spread, at)
		}
	}
	points := s.thinned(r.Points, x)
	c.open("g", "class", "points")
	class := "dots"
	if len(points) <= 150 {
		class = "dots few"
	}
	attributes := []any{"class", class, "d", dots(points, x, v)}
	if !c.narrow() {
		attributes = append(attributes, "data-tip", s.tips(points))
	}
	c.empty("path", attributes...)
	if len(r.Dropped) > 0 {
		c.empty("path", "class", "dots dropped", "d", dots(s.thinned(r.Dropped, x), x, v))
	}
	c.close("g")
	bars(c, r.Spread, x.to+6, spread-6, upper+3, lower-3)
}

// tips are the tooltips of the points, in order, separated by |.
func (s Series) tips(points []Point) string {
	words := make([]string, len(points))
	for i, p := range points {
		words[i] = strings.ReplaceAll(s.Point(p.At, p.Value), "|", "/")
	}
	return strings.Join(words, "|")
}

// dots is the path of the points: a line of length 0 for each, which round line caps draw as a dot.
func dots(points []Point, x, v scale) string {
	var b strings.Builder
	for _, p := range points {
		at, _ := v.clamped(p.Value)
		b.WriteString("M" + number(x.at(p.At)) + " " + number(at) + "h0")
	}
	return b.String()
}

// bars draws a histogram, the bin of the lowest values at the bottom.
func bars(c *canvas, counts []int, x, width, upper, lower float64) {
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	h := (lower - upper) / float64(len(counts))
	var d strings.Builder
	for i, n := range counts {
		if n > 0 {
			y := lower - float64(i+1)*h
			d.WriteString("M" + number(x) + " " + number(y) + "h" + number(max(width*float64(n)/float64(most), 1)) +
				"v" + number(h) + "H" + number(x) + "z")
		}
	}
	c.empty("path", "class", "spread", "d", d.String())
}

// thinned are the points of a strip that are drawn.
func (s Series) thinned(points []Point, x scale) []Point {
	if x.to-x.from > Narrow && len(points) <= mostUnthinned {
		return points
	}
	return thin(points, x)
}

// thin keeps the lowest and the highest point of every bucket of time with more than two points.
func thin(points []Point, x scale) []Point {
	if float64(len(points)) <= (x.to-x.from)/bucket {
		return points
	}
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
