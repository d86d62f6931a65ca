package observed

import (
	"math"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// mostBins bounds what is kept of a series: an hour of seconds stays as it is,
// and a day of them, or a billion, becomes means of groups.
const mostBins = 4096

// series takes the reports of one metric in order of time and keeps sums and the
// means of consecutive groups. The zero value is ready; memory is bounded.
type series struct {
	n       int
	shift   float64 // the first value: sums of differences to it keep their digits
	last    float64
	sum     float64
	squares float64
	lagged  float64
	stalled int

	bins  []float64
	size  int // reports in a bin
	part  float64
	parts int
}

// put takes one report.
func (s *series) put(x float64) {
	if s.n == 0 {
		s.shift, s.size = x, 1
	}
	if x == 0 {
		s.stalled++
	}
	d := x - s.shift
	if s.n > 0 {
		s.lagged += d * s.last
	}
	s.last = d
	s.n++
	s.sum += d
	s.squares += d * d
	s.part += x
	if s.parts++; s.parts == s.size {
		s.bins = append(s.bins, s.part/float64(s.size))
		s.part, s.parts = 0, 0
		if len(s.bins) == mostBins {
			s.halve()
		}
	}
}

// halve joins neighbouring bins.
func (s *series) halve() {
	for i := range len(s.bins) / 2 {
		s.bins[i] = (s.bins[2*i] + s.bins[2*i+1]) / 2
	}
	s.bins = s.bins[:len(s.bins)/2]
	s.size *= 2
}

// N is how many reports there were.
func (s *series) N() int { return s.n }

// mean is missing without a report.
func (s *series) mean() format.Num {
	if s.n == 0 {
		return format.Num{}
	}
	return format.Some(s.shift + s.sum/float64(s.n))
}

// lag1 is the autocorrelation of neighbouring reports, from the sums.
func (s *series) lag1() record.Value {
	n := float64(s.n)
	if s.n < 4 {
		return record.Missing("fewer than four reports")
	}
	m := s.sum / n
	ssd := s.squares - n*m*m
	if !(ssd > 1e-20*n*s.shift*s.shift) {
		return record.Missing("all reports are equal")
	}
	// Every value but the last is a predecessor (the first difference is 0).
	cross := s.lagged - m*(2*s.sum-s.last) + (n-1)*m*m
	return record.Number(round(math.Max(-1, math.Min(1, cross/ssd))))
}

// Figure is one metric of a run on its way.
type Figure struct {
	Metric metric.Metric
	Total  format.Num // what the summary says
	series

	limit      float64 // the largest report that can be true
	impossible int     // reports that cannot be true
	worst      float64 // the last of them
}

// NewFigure begins a metric.
func NewFigure(m metric.Metric) *Figure { return &Figure{Metric: m, limit: most(m)} }

// Add takes one report; a missing one is left out.
func (f *Figure) Add(v format.Num) {
	if x, ok := v.Get(); ok {
		f.Put(x)
	}
}

// Put takes one report; one that cannot be true is only counted.
func (f *Figure) Put(x float64) {
	if !(x >= 0 && x <= f.limit) {
		f.impossible, f.worst = f.impossible+1, x
		return
	}
	f.put(x)
}

// record is the figure as the record has it. seconds is what the run spans, 0
// when not known.
func (f *Figure) record(every float64) record.Figure {
	out := record.Figure{Metric: f.Metric.Name, Total: f.Total.Value("the summary does not say it"),
		Mean: f.mean().Value("no report on the way"), Lag1: f.lag1()}
	if x, ok := out.Mean.Get(); ok {
		out.Mean = record.Number(round(x))
	}
	if f.n > 1 {
		out.Reports, out.Bin, out.Every = f.n, f.size, round(every)
		for _, b := range f.bins {
			out.Bins = append(out.Bins, round(b))
		}
	}
	if f.Metric.Unit != "s" {
		out.Stalled = f.stalled
	}
	return out
}

// round keeps nine digits: more than any tool prints.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(x))))
	if r := math.Round(x*scale) / scale; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r
	}
	return x
}
