package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/record"
)

// run is one run of a tool on its way into the record.
type run struct {
	record.Observed
	sub     string // which of several loads of the tool: the test, the job, the command
	every   float64
	figures []*figure
}

// figure finds a metric of the run or begins it.
func (r *run) figure(metric string) *figure {
	for _, f := range r.figures {
		if f.metric == metric {
			return f
		}
	}
	f := &figure{metric: metric}
	r.figures = append(r.figures, f)
	return f
}

// total takes what the tool's summary says of the whole run.
func (r *run) total(metric string, v format.Num) {
	if v.Known() {
		r.figure(metric).total = v
	}
}

// quantiles takes the quantiles of the whole run that people look at.
func (r *run) quantiles(list []format.Quantile) {
	for _, q := range list {
		if q.Q >= 0.5 && q.Q < 1 && slices.Contains([]float64{0.5, 0.9, 0.95, 0.99, 0.999}, q.Q) {
			r.total(quantileName(q.Q), q.Seconds)
		}
	}
}

// load notes a setting that makes the load what it is, other one that may differ;
// what is not known is left out.
func (r *run) load(name, value string)  { r.Load = setting(r.Load, name, value) }
func (r *run) other(name, value string) { r.Other = setting(r.Other, name, value) }

func setting(list []record.Setting, name, value string) []record.Setting {
	if value == "" {
		return list
	}
	return append(list, record.Setting{Name: name, Got: value})
}

// text is a number as a setting; empty when it is missing.
func text(n format.Num) string {
	x, ok := n.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// finish makes the run ready for the record; false when nothing is known of it.
func (r *run) finish() bool {
	for _, f := range r.figures {
		if f.total.Known() || f.n > 0 {
			r.Figures = append(r.Figures, f.record(r.every))
		}
	}
	return len(r.Figures) > 0
}

// shape is the load's settings on one line: runs with the same one can be runs of
// the same arm.
func (r *run) shape() string { return r.only(nil) }

// only is the settings of these names on one line, of all names for none.
func (r *run) only(names []string) string {
	var s []string
	for _, l := range r.Load {
		if names == nil || slices.Contains(names, l.Name) {
			s = append(s, l.Name+" "+l.Got)
		}
	}
	return strings.Join(s, ", ")
}

func quantileName(q float64) string {
	return "p" + strconv.FormatFloat(100*q, 'g', 6, 64)
}

// metricNamed describes a metric that runs can have.
func metricNamed(name string) record.Metric {
	m := record.Metric{Name: name, Unit: "1/s", Better: +1}
	last := name[strings.LastIndexByte(name, '_')+1:]
	switch {
	case strings.HasSuffix(name, "bandwidth"):
		m.Unit = "B/s"
	case last[0] == 'p' && len(last) > 1 && last[1]-'0' <= 9, strings.HasSuffix(name, "latency"),
		strings.HasSuffix(name, "latency_mean"), strings.HasSuffix(name, "time"):
		m.Unit, m.Better = "s", -1
	}
	return m
}

// builtIn are the metrics that every report has words for.
func builtIn(name string) bool {
	return slices.Contains([]string{"throughput", "p50", "p95", "p99"}, name)
}

// failures makes a warning of lines with which a tool said that something failed.
func failures(list []format.Warning, n int) []format.Warning {
	if n == 0 || len(list) == 0 {
		return nil
	}
	w := list[0]
	if len(w.Text) > 120 {
		w.Text = w.Text[:120] + "..."
	}
	w.Text = fmt.Sprintf("the tool reported %d failures, the first: %s", n, w.Text)
	w.Remedy = "find out what failed before the figures are used"
	return []format.Warning{w}
}
