// Package observed has the result of all readers of logs: runs with figures, as the record has them, and
// the settings that define the load. A run's memory does not grow with its log. The package must not
// compute effects or verdicts.
package observed

import (
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Run is one run of a tool, filled while its log is read.
type Run struct {
	record.Observed
	Sub string // the test, job or command, if the tool has several loads
	// SubIsArm says that the tool compared commands itself: in an import of one arm, Sub names the arm.
	SubIsArm bool
	Every    float64 // seconds from one report to the next
	// Heading is the number of the run in a heading above it: "run 2"; empty: none.
	Heading string
	// Whole names the whole run if the file has only one of its threads or jobs; see Kind.Whole.
	Whole string
	// Clients is the number of clients that have operations in the file; 0: a setting has it.
	Clients int
	Doubts  []format.Warning // one for each figure that was left out as impossible
	// Done is the number of operations during Seconds, if the tool prints both.
	Done format.Num

	// Rates has the throughput of the summary, once for each meaning that the tool prints. Agree
	// chooses one meaning for all runs of a comparison.
	Rates []Rate

	// Queries and Writes are means per transaction. They are no settings: retries change them.
	Queries, Writes format.Num

	// Metrics are those of Figures, in the same order, once the run is finished.
	Metrics []metric.Metric

	figures   []*Figure
	latencies histogram // of single operations
}

// Rate is a throughput and its meaning: Counts says which operations or time it counts.
type Rate struct {
	Counts    string
	PerSecond format.Num
}

// Agree sets the throughput of runs of one load to the first rate whose meaning all runs have. If there
// is none, each run gets its first rate, and the meaning becomes a setting of its load.
func Agree(runs []*Run) {
	common := ""
	for _, r := range runs {
		for _, x := range r.Rates {
			missing := func(o *Run) bool { return len(o.Rates) > 0 && !o.rate(x.Counts).Known() }
			if common == "" && !slices.ContainsFunc(runs, missing) {
				common = x.Counts
			}
		}
	}
	for _, r := range runs {
		switch {
		case len(r.Rates) == 0:
		case common != "":
			r.Total(metric.Throughput, r.rate(common))
		default:
			r.Total(metric.Throughput, r.Rates[0].PerSecond)
			r.MakesLoad(metric.Throughput.Name, r.Rates[0].Counts)
		}
	}
}

// rate returns the rate with a meaning; missing if the tool did not print it.
func (r *Run) rate(counts string) format.Num {
	for _, x := range r.Rates {
		if x.Counts == counts {
			return x.PerSecond
		}
	}
	return format.Num{}
}

// Runs are the runs of a file, by their number from 0.
type Runs []*Run

// At returns run i, and makes it if needed.
func (l *Runs) At(i int) *Run {
	for len(*l) <= i {
		*l = append(*l, &Run{})
	}
	return (*l)[i]
}

// Figure returns the figure of a metric, and makes it if needed.
func (r *Run) Figure(m metric.Metric) *Figure {
	for _, f := range r.figures {
		if f.Metric.Name == m.Name {
			return f
		}
	}
	f := NewFigure(m)
	r.figures = append(r.figures, f)
	return f
}

// Total sets a figure for the whole run, from the tool's summary. A missing number changes nothing.
func (r *Run) Total(m metric.Metric, v format.Num) {
	if v.Known() {
		r.Figure(m).Total = v
	}
}

// Quantiles sets the quantiles 0.5, 0.9, 0.95, 0.99 and 0.999 of the whole run; it skips others.
func (r *Run) Quantiles(list []format.Quantile) {
	for _, q := range list {
		if q.Q >= 0.5 && q.Q < 1 && slices.Contains([]float64{0.5, 0.9, 0.95, 0.99, 0.999}, q.Q) {
			r.Total(metric.Quantile(q.Q), q.Seconds)
		}
	}
}

// MakesLoad adds a setting that defines the load, unless the value is empty.
func (r *Run) MakesLoad(name, value string) { r.Load = setting(r.Load, name, value) }

// MayDiffer adds a setting that may differ between runs of one load, unless the value is empty.
func (r *Run) MayDiffer(name, value string) { r.Other = setting(r.Other, name, value) }

func setting(list []record.Setting, name, value string) []record.Setting {
	if value == "" {
		return list
	}
	return append(list, record.Setting{Name: name, Got: value})
}

// Text writes a number as the value of a setting; empty if missing.
func Text(n format.Num) string {
	x, ok := n.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Bytes writes a printed amount of bytes as the value of a setting, in one spelling: 16 KiB. Other text
// stays as it is.
func Bytes(text string) string {
	x, ok := format.Size([]byte(text)).Get()
	if !ok {
		return text
	}
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if x < 1024 || math.Mod(x, 1024) != 0 {
			return Text(format.Some(x)) + " " + unit
		}
		x /= 1024
	}
	return Text(format.Some(x)) + " TiB"
}

// Known reports whether the run has a figure, even an impossible one.
func (r *Run) Known() bool {
	any := func(f *Figure) bool { return f.Total.Known() || f.n > 0 || f.impossible > 0 }
	return r.latencies.n > 0 || len(r.Rates) > 0 || slices.ContainsFunc(r.figures, any)
}

// Finish fills in Figures and Metrics for the record, without impossible figures. It returns false if
// none is left.
func (r *Run) Finish() bool {
	r.latencies.totals(r)
	r.MakesLoad("clients", Text(format.Some(float64(r.Clients)).NonZero()))
	for _, f := range r.figures {
		r.judge(f)
		if (f.Total.Known() || f.n > 0) && !r.idle(f) {
			r.Figures, r.Metrics = append(r.Figures, f.record(r.Every)), append(r.Metrics, f.Metric)
		}
	}
	return len(r.Figures) > 0
}

// idle reports that a figure is about something that the run did not do, such as writes of a read-only
// run: all its reports are 0, although the throughput and other figures are not.
func (r *Run) idle(f *Figure) bool {
	allZero := func(x *Figure) bool { return !x.Total.Known() && x.stalled == x.n }
	noThroughput := func(x *Figure) bool { return x.Metric.Name == metric.Throughput.Name && x.n > 0 && allZero(x) }
	nonZero := func(x *Figure) bool { return !allZero(x) }
	return f.n > 0 && allZero(f) && !slices.ContainsFunc(r.figures, noThroughput) && slices.ContainsFunc(r.figures, nonZero)
}

// Empty reports that the run has no figures.
func (r *Run) Empty() bool { return len(r.figures) == 0 }

// Forget drops all figures.
func (r *Run) Forget() { r.figures = nil }

// AddFigure adds a figure that NewFigure made.
func (r *Run) AddFigure(f *Figure) { r.figures = append(r.figures, f) }

// Failures returns a warning about the error lines of a tool; none if there were none.
func Failures(f format.Failures) []format.Warning {
	if f.Count == 0 {
		return nil
	}
	first := f.First.Text
	if len(first) > 120 {
		first = first[:120] + "..."
	}
	return []format.Warning{{Line: f.First.Line, Text: failures(f.Count, first), Remedy: findFailure}}
}
