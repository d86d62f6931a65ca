// Package observed is what the readers of logs make of a run: its figures as the
// record has them, and the settings of its load. Memory does not grow with the
// log. It must not compute effects or judge.
package observed

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Run is one run of a tool on its way into the record.
type Run struct {
	record.Observed
	Sub string // which of several loads of the tool: the test, the job, the command
	// SubIsArm says that the tool compared commands itself: in an import of one arm, Sub names the arm.
	SubIsArm bool
	Every    float64 // seconds from report to report
	// Whole is the run that the file is a part of, where threads or jobs write one
	// each; empty for none.
	Whole string
	// Clients of which the file has operations, where no setting says it.
	Clients int
	Doubts  []format.Warning // figures that were left out
	// Done is how many operations the tool did in the seconds of the run, where it
	// says both.
	Done format.Num

	// Rates are what a summary has for throughput where it has it in more than one meaning. One
	// comparison has one of them: see Agree.
	Rates []Rate

	// Queries and Writes are what a transaction consists of on average. It is no
	// setting, for it wobbles.
	Queries, Writes format.Num

	// Metrics are those of Figures, in the same order, once the run is finished.
	Metrics []metric.Metric

	figures   []*Figure
	latencies histogram // of single operations
}

// Rate is a throughput, and what it counts.
type Rate struct {
	Counts    string
	PerSecond format.Num
}

// Agree gives runs of one load the rate that all of them have. Where they have none in common,
// each has its first, and what it counts is a setting in which they differ.
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

// rate is that which counts so; missing for none.
func (r *Run) rate(counts string) format.Num {
	for _, x := range r.Rates {
		if x.Counts == counts {
			return x.PerSecond
		}
	}
	return format.Num{}
}

// Runs are the runs of a file by their number.
type Runs []*Run

// At is a run, which is made when it is first asked for.
func (l *Runs) At(i int) *Run {
	for len(*l) <= i {
		*l = append(*l, &Run{})
	}
	return (*l)[i]
}

// Figure finds a metric of the run or begins it.
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

// Total takes what the tool's summary says of the whole run.
func (r *Run) Total(m metric.Metric, v format.Num) {
	if v.Known() {
		r.Figure(m).Total = v
	}
}

// Quantiles takes the quantiles of the whole run that people look at.
func (r *Run) Quantiles(list []format.Quantile) {
	for _, q := range list {
		if q.Q >= 0.5 && q.Q < 1 && slices.Contains([]float64{0.5, 0.9, 0.95, 0.99, 0.999}, q.Q) {
			r.Total(metric.Quantile(q.Q), q.Seconds)
		}
	}
}

// MakesLoad notes a setting that makes the load what it is, MayDiffer one that
// may differ; what is not known is left out.
func (r *Run) MakesLoad(name, value string) { r.Load = setting(r.Load, name, value) }

// MayDiffer is for the others.
func (r *Run) MayDiffer(name, value string) { r.Other = setting(r.Other, name, value) }

func setting(list []record.Setting, name, value string) []record.Setting {
	if value == "" {
		return list
	}
	return append(list, record.Setting{Name: name, Got: value})
}

// Text is a number as a setting; empty when it is missing.
func Text(n format.Num) string {
	x, ok := n.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Bytes is an amount of bytes as a setting, however it was printed: 16 KiB. What is
// no amount stays as it is.
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

// Known says whether anything is known of the run.
func (r *Run) Known() bool {
	any := func(f *Figure) bool { return f.Total.Known() || f.n > 0 || f.impossible > 0 }
	return r.latencies.n > 0 || len(r.Rates) > 0 || slices.ContainsFunc(r.figures, any)
}

// Finish makes the run ready for the record; false when nothing of it can be true.
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

// idle says that a figure is of something that the run did not do: all its reports
// are 0, and not those of others.
func (r *Run) idle(f *Figure) bool {
	still := func(x *Figure) bool { return !x.Total.Known() && x.stalled == x.n }
	dead := func(x *Figure) bool { return x.Metric.Name == metric.Throughput.Name && x.n > 0 && still(x) }
	busy := func(x *Figure) bool { return !still(x) }
	return f.n > 0 && still(f) && !slices.ContainsFunc(r.figures, dead) && slices.ContainsFunc(r.figures, busy)
}

// Empty says that nothing was reported of the run.
func (r *Run) Empty() bool { return len(r.figures) == 0 }

// Forget drops what was reported so far.
func (r *Run) Forget() { r.figures = nil }

// Keep adds a figure that was made apart.
func (r *Run) Keep(f *Figure) { r.figures = append(r.figures, f) }

// Failures makes a warning of lines with which a tool said that something failed.
func Failures(f format.Failures) []format.Warning {
	if f.Count == 0 {
		return nil
	}
	w := f.First
	if len(w.Text) > 120 {
		w.Text = w.Text[:120] + "..."
	}
	w.Text = fmt.Sprintf("the tool reported %d failures, the first: %s", f.Count, w.Text)
	w.Remedy = "find out what failed before the figures are used"
	return []format.Warning{w}
}
