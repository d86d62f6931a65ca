package observed

import (
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// The largest possible figures. A counter that wrapped around is larger.
const (
	mostRate      = 1e12 // per second
	mostBandwidth = 1e15 // bytes per second
	mostSeconds   = 1e7
	// pgbench can print a rate that leaves out the time for connections. It can be much larger than
	// operations over seconds, but not by this factor.
	mostConnecting = 100
)

// most returns the largest possible value of a metric.
func most(m metric.Metric) float64 {
	switch m.Unit {
	case "s":
		return mostSeconds
	case "B/s":
		return mostBandwidth
	}
	return mostRate
}

// judge removes impossible values of a figure, with a warning for each.
func (r *Run) judge(f *Figure) {
	if x, ok := f.Total.Get(); ok {
		if why := r.impossible(f, x); !why.IsZero() {
			r.doubt(f.Metric.Name, oneValue(x, why))
			f.Total = format.Num{}
		}
	}
	if f.impossible > 0 {
		why := r.impossible(f, f.worst)
		r.doubt(f.Metric.Name, someReports(f.impossible, f.impossible+f.n, f.worst, why))
	}
	if x, ok := f.mean().Get(); ok {
		if why := r.impossible(f, x); !why.IsZero() {
			r.doubt(f.Metric.Name, ofAverage(x, why))
			f.series = series{}
		}
	}
}

// impossible returns the reason why a value is impossible; empty if it is possible.
func (r *Run) impossible(f *Figure, x float64) record.Said {
	switch {
	case x < 0:
		return negative
	case x > most(f.Metric):
		return tooLarge
	case r.Complete && r.Seconds > 0 && x > 1.1*r.Seconds+1 && f.Metric.Name != metric.Time.Name && f.Metric.Unit == "s":
		return longerThanRun(r.Seconds)
	}
	if done, ok := r.Done.Get(); ok && f.Metric.Name == metric.Throughput.Name && r.Seconds > 0 && x > mostConnecting*max(done/r.Seconds, 1) {
		return unlikeDone(done, r.Seconds)
	}
	return record.Said{}
}

func (r *Run) doubt(name string, what record.Said) {
	r.Doubts = append(r.Doubts, format.Warning{Line: r.Line, Text: impossible(name, what), Remedy: lookAtLog})
}
