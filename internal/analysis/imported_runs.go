package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// mostPoints is the largest number of points of a series in effects.json.
const mostPoints = 240

// single is the series of one metric of one run, with its analysis.
type single struct {
	record.ImportedSeries
	batched stat.Batched
	bins    []float64
}

// single analyses the reports of every run.
func (t *imported) single() {
	for _, a := range t.load.Arms {
		for _, o := range t.runs[a.Name] {
			for i := range o.Figures {
				if f := &o.Figures[i]; len(f.Bins) > 1 {
					s := singleOf(o, f)
					t.series = append(t.series, s)
					t.out.Single = append(t.out.Single, s.ImportedSeries)
				}
			}
		}
	}
}

func singleOf(o *record.Observed, f *record.Figure) single {
	s := single{bins: f.Bins, batched: stat.BatchMeans(f.Bins)}
	s.ImportedSeries = record.ImportedSeries{Workload: o.Workload, Arm: o.Arm, Metric: f.Metric, Number: o.Number, File: o.File,
		Line: o.Line, Reports: f.Reports, Seconds: f.Every * float64(f.Reports), Mean: f.Mean, Lag1: f.Lag1,
		Left: record.Missing(fewReports), Points: thin(f.Bins)}
	if b := s.batched; b.Batches > 0 {
		s.Batches, s.BatchSize, s.Left = b.Batches, b.Size*f.Bin, record.Number(b.Left)
	}
	if s.batched.Known() && s.batched.Mean != 0 {
		s.Half = math.Abs(s.batched.At(0.95).Half() / s.batched.Mean)
	}
	if m := stat.FindModes(f.Bins); m.Two(len(f.Bins)) && m.High-m.Low > leastApart*math.Abs(s.batched.Mean) {
		s.Modes = &record.Modes{Low: m.Low, High: m.High, Share: m.Share, Switches: m.Switches}
	}
	return s
}

// leastApart is the least distance of two levels that is reported, as a part of the mean.
const leastApart = 0.05

// thin reduces a series to at most mostPoints means of neighbouring points.
func thin(x []float64) []float64 {
	size := (len(x) + mostPoints - 1) / mostPoints
	if size <= 1 {
		return x
	}
	var out []float64
	for len(x) > 0 {
		n := min(size, len(x))
		out = append(out, stat.Mean(x[:n]).Mean)
		x = x[n:]
	}
	return out
}

// within adds the interval of what happened inside the only run of each arm.
func (t *imported) within(e *record.Effect, name string, total bool) {
	a, b := t.only(e.Arm, name), t.only(e.Baseline, name)
	if a == nil || b == nil {
		return
	}
	d := stat.Difference(a.batched.Estimate.Log(), b.batched.Estimate.Log())
	if total {
		if name != metric.Throughput.Name {
			return // the error of a mean of percentiles is not that of the percentile
		}
		d.Mean = math.Log(e.Observed)
	}
	if d.Known() {
		e.Within = shown(d, d.At(0.95))
	}
}

// only is the series of the only run of an arm.
func (t *imported) only(arm, name string) *single {
	var found *single
	for i := range t.series {
		if s := &t.series[i]; s.Arm == arm && s.Metric == name {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	if len(t.runs[arm]) != 1 {
		return nil
	}
	return found
}

// addReports adds the reports of a run. Their time is in seconds since the start of the run,
// or the number of the report where counted.
func addReports(points map[string][]record.Point, name string, o *record.Observed, counted bool) {
	for _, f := range o.Figures {
		if f.Metric != name {
			continue
		}
		every := f.Every
		if counted {
			every = 1
		}
		for i, x := range f.Bins {
			points[o.Arm] = append(points[o.Arm], record.Point{At: every * float64(i*f.Bin), Value: x, Generation: o.Number, Block: i})
		}
	}
}

// unclocked says that a run does not tell how long its reports are apart.
func unclocked(name string, o *record.Observed) bool {
	for _, f := range o.Figures {
		if f.Metric == name && len(f.Bins) > 0 && f.Every == 0 {
			return true
		}
	}
	return false
}
