package observed

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// mostBins bounds the values that are kept of a series: an hour of reports per second stays as it is,
// longer series become means of groups.
const mostBins = 4096

// series has the sums of a metric's reports, which come in order of time, and the means of consecutive
// groups. The zero value is ready; its memory is bounded. Sums are of differences to shift, so that
// they do not lose digits.
type series struct {
	n       int
	shift   float64 // the first report
	last    float64
	sum     float64
	squares float64
	lagged  float64 // sum of products of neighbouring reports
	stalled int     // reports of 0

	bins  []float64
	size  int     // reports in a bin
	part  float64 // sum of the reports in the next bin
	parts int     // their number
}

// put adds one report.
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

// halve halves the number of bins: each becomes the mean of two.
func (s *series) halve() {
	for i := range len(s.bins) / 2 {
		s.bins[i] = (s.bins[2*i] + s.bins[2*i+1]) / 2
	}
	s.bins = s.bins[:len(s.bins)/2]
	s.size *= 2
}

// Bins returns how many values the series of a run have together.
func (r *Run) Bins() (n int) {
	for _, f := range r.figures {
		n += len(f.bins)
	}
	return n
}

// Halve halves the series of a run that have more than least values, and frees the memory.
func (r *Run) Halve(least int) {
	for _, f := range r.figures {
		if len(f.bins) > least {
			f.halve()
			f.bins = slices.Clone(f.bins)
		}
	}
}

// N returns the number of reports.
func (s *series) N() int { return s.n }

// mean is the mean of all reports; missing without a report.
func (s *series) mean() format.Num {
	if s.n == 0 {
		return format.Num{}
	}
	return format.Some(s.shift + s.sum/float64(s.n))
}

// lag1 computes the autocorrelation of neighbouring reports from the sums.
func (s *series) lag1() record.Value {
	n := float64(s.n)
	if s.n < 4 {
		return record.Missing(fewReports)
	}
	m := s.sum / n
	ssd := s.squares - n*m*m
	if !(ssd > 1e-20*n*s.shift*s.shift) {
		return record.Missing(equalReports)
	}
	// Every report but the last is a predecessor. (The first difference is 0.)
	cross := s.lagged - m*(2*s.sum-s.last) + (n-1)*m*m
	return record.Number(round(math.Max(-1, math.Min(1, cross/ssd))))
}

// Figure is one metric of a run while it is read.
type Figure struct {
	Metric metric.Metric
	Total  format.Num // of the tool's summary
	series

	limit      float64 // the largest possible report
	impossible int     // number of impossible reports
	worst      float64 // the last impossible report
}

// NewFigure makes the figure of a metric.
func NewFigure(m metric.Metric) *Figure { return &Figure{Metric: m, limit: most(m)} }

// Add adds one report, unless it is missing.
func (f *Figure) Add(v format.Num) {
	if x, ok := v.Get(); ok {
		f.Put(x)
	}
}

// Put adds one report. An impossible one is only counted.
func (f *Figure) Put(x float64) {
	if !(x >= 0 && x <= f.limit) {
		f.impossible, f.worst = f.impossible+1, x
		return
	}
	f.put(x)
}

// record converts the figure for the record. every is the seconds between reports; 0: not known.
func (f *Figure) record(every float64) record.Figure {
	out := record.Figure{Metric: f.Metric.Name, Total: f.Total.Value(noTotal),
		Mean: f.mean().Value(noReport), Lag1: f.lag1()}
	if x, ok := out.Mean.Get(); ok {
		out.Mean = record.Number(round(x))
	}
	if f.n > 1 {
		out.Reports, out.Bin, out.Every = f.n, f.size, round(every)
		for i, b := range f.bins {
			f.bins[i] = round(b)
		}
		out.Bins = f.bins
	}
	if f.Metric.Unit != "s" {
		out.Stalled = f.stalled
	}
	return out
}

// round rounds to nine digits, more than any tool prints.
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
