package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// CPUMetric is the probe value that CPU time per operation comes from.
const CPUMetric = "cpu.time"

// tail is the least number of operations beyond a quantile that carry it, and
// tailWindow the least in one window.
const (
	tail       = 40
	tailWindow = 10
)

// measure is how a metric of a window and of many windows comes about.
type measure struct {
	metric.Metric
	// parts are what is divided by what, so that a metric of many windows is the
	// ratio of their sums; nil for quantiles.
	parts func(*window) (above, below float64)
}

// measureOf finds a metric of the table: one that every load has, or one that
// this load says itself.
func (t *table) measureOf(name string) (measure, bool) {
	m, ok := metric.Find(t.load.Values, name)
	if !ok {
		return measure{}, false
	}
	out := measure{Metric: m}
	switch {
	case t.says(name):
		out.parts = func(w *window) (float64, float64) { return t.value(w, ofLoad+name), 1 }
	case m.Quantile > 0:
	case name == metric.Throughput.Name:
		out.parts = func(w *window) (float64, float64) { return float64(w.ops), w.seconds }
	case name == metric.Efficiency.Name:
		out.parts = func(w *window) (float64, float64) { return float64(w.ops), t.value(w, CPUMetric) }
	case byOperation[name] != "":
		probe := byOperation[name]
		out.parts = func(w *window) (float64, float64) { return t.value(w, probe), float64(w.ops) }
	default:
		return measure{}, false
	}
	return out, true
}

// byOperation is the probe value that a metric per operation comes from.
var byOperation = map[string]string{
	metric.CPUPerOp.Name: CPUMetric, metric.InstructionsPerOp.Name: "cpu.instructions", metric.CyclesPerOp.Name: "cpu.cycles",
}

// received is CPU time per second, of which and of efficiency throughput is the
// product.
func (t *table) received() measure {
	return measure{Metric: metric.Metric{Name: CPUMetric, Unit: "s/s", Better: +1},
		parts: func(w *window) (float64, float64) { return t.value(w, CPUMetric), w.seconds }}
}

func (t *table) says(name string) bool {
	return slices.ContainsFunc(t.load.Values, func(v record.Metric) bool { return v.Name == name })
}

// one is the metric of one window; NaN where it has none.
func (m measure) one(w *window) float64 {
	if m.parts == nil {
		return w.latency.quantile(m.Quantile, w.timed)
	}
	above, below := m.parts(w)
	return above / below
}

// halfAnOperation stands for no operation at all, as log(0) is no number. Where
// windows have many operations this is as far away as any number would be: the
// robust fit clips it, and the total has the 0 itself.
const halfAnOperation = 0.5

// log is the logarithm of the metric of one window; NaN where there is none. A
// window in which nothing was done counts as half an operation.
func (m measure) log(w *window) float64 {
	x := m.one(w)
	switch {
	case w.ops > 0 || m.parts == nil:
	case m.Name == metric.Throughput.Name, m.Name == metric.Efficiency.Name:
		_, below := m.parts(w)
		x = halfAnOperation / below
	case byOperation[m.Name] != "":
		above, _ := m.parts(w)
		x = above / halfAnOperation
	}
	if !(x > 0) || math.IsInf(x, 0) {
		return math.NaN()
	}
	return math.Log(x)
}

// metrics are the metrics of the load by name, efficiency where that is judged
// although the plan of an older version does not have it, and what the CPU counted
// where it did.
func (t *table) metrics() []string {
	out := t.load.Metrics
	more := t.judged()
	for _, m := range []metric.Metric{metric.InstructionsPerOp, metric.CyclesPerOp} {
		if t.some(byOperation[m.Name]) {
			more = append(more[:len(more):len(more)], m.Name)
		}
	}
	for _, name := range more {
		if !slices.Contains(t.load.Metrics, name) {
			out = append(out[:len(out):len(out)], name)
		}
	}
	return out
}

// judged are the metrics whose intervals hold together.
func (t *table) judged() []string {
	return metric.Judged(t.load, t.some(CPUMetric))
}

// some says whether a window has more than nothing of a probe value.
func (t *table) some(probe string) bool {
	for w := range t.all() {
		if t.value(w, probe) > 0 {
			return true
		}
	}
	return false
}

// levels is the metrics of an arm over all its windows.
func (t *table) levels(arm string, ws []*window, p *pooled) map[string]record.Value {
	out := map[string]record.Value{}
	for _, name := range t.metrics() {
		m, ok := t.measureOf(name)
		switch {
		case len(ws) == 0:
			out[name] = record.Missing("no window of this arm counts")
		case !ok:
			out[name] = record.Missing("this tare does not know the metric")
		case m.parts != nil:
			above, below, _ := m.sums(ws)
			if out[name] = record.Number(above / below); math.IsNaN(above / below) {
				out[name] = record.Missing(t.whyNone(arm, m))
			}
		case float64(p.total)*(1-m.Quantile) < tail:
			out[name] = record.Missing("too few operations beyond the quantile")
		default:
			out[name] = record.Number(p.quantiles(m.Quantile)[0])
		}
	}
	return out
}

// sums are those of the parts over the windows, and their number; NaN where a
// window does not have them, for a sum over some of them is another number.
func (m measure) sums(ws []*window) (above, below, n float64) {
	for _, w := range ws {
		a, b := m.parts(w)
		above, below, n = above+a, below+b, n+1
	}
	return above, below, n
}

// whyNone is why an arm has no value of a metric.
func (t *table) whyNone(arm string, m measure) string {
	ws := t.windowsOf(arm)
	if len(ws) == 0 {
		return "no window of this arm counts"
	}
	if m.Name == metric.CPUPerOp.Name || m.Name == metric.Efficiency.Name {
		return "no CPU time: " + t.reason(arm, CPUMetric)
	}
	if p := byOperation[m.Name]; p != "" {
		return t.reason(arm, p)
	}
	if t.says(m.Name) {
		for _, w := range ws {
			if x := t.value(w, ofLoad+m.Name); x <= 0 {
				return fmt.Sprintf("%g is not positive: there is no ratio", x)
			}
		}
		return t.reason(arm, ofLoad+m.Name)
	}
	return "no operation was measured"
}
