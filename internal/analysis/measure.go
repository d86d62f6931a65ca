package analysis

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// cpuMetric is the probe value with the CPU time of an arm, in seconds.
const cpuMetric = "cpu.time"

// tail is the least number of operations beyond a quantile in all windows of an arm, and
// tailWindow the least in one window. With fewer the quantile is missing.
const (
	tail       = 40
	tailWindow = 10
)

// measure computes a metric of one window and of many.
type measure struct {
	metric.Metric
	// parts returns numerator and denominator: the metric of many windows is the ratio of
	// their sums. It is nil for quantiles.
	parts func(*window) (above, below float64)
}

// measureOf finds a metric by its name: one that tare computes for every load, or one that
// the load reports itself.
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
	case byOperation[name] != "":
		probe := byOperation[name]
		out.parts = func(w *window) (float64, float64) { return t.value(w, probe), float64(w.ops) }
	default:
		return measure{}, false
	}
	return out, true
}

// byOperation is the probe value of each metric per operation.
var byOperation = map[string]string{
	metric.CPUPerOp.Name: cpuMetric, metric.InstructionsPerOp.Name: "cpu.instructions", metric.CyclesPerOp.Name: "cpu.cycles",
}

// received is CPU time per second. Throughput is it over CPU time per operation.
func (t *table) received() measure {
	return measure{Metric: metric.Metric{Name: cpuMetric, Unit: "s/s", Better: +1},
		parts: func(w *window) (float64, float64) { return t.value(w, cpuMetric), w.seconds }}
}

func (t *table) says(name string) bool {
	return slices.ContainsFunc(t.load.Values, func(v record.Metric) bool { return v.Name == name })
}

// one is the metric of one window; NaN without.
func (m measure) one(w *window) float64 {
	if m.parts == nil {
		return w.latency.quantile(m.Quantile, w.timed)
	}
	above, below := m.parts(w)
	return above / below
}

// halfAnOperation replaces 0 operations, as log(0) is no number. Where windows have many
// operations the robust fit clips it like any other outlier, and the total counts the 0.
const halfAnOperation = 0.5

// log is the logarithm of the metric of one window; NaN without. A window without operations
// counts as half an operation.
func (m measure) log(w *window) float64 {
	x := m.one(w)
	switch {
	case w.ops > 0 || m.parts == nil:
	case m.Name == metric.Throughput.Name:
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

// metrics returns the names of the load's metrics. To them it adds those of hardware counters where
// these counted.
func (t *table) metrics() []string {
	out := metric.Of(t.load)
	more := t.judged()
	for _, m := range []metric.Metric{metric.InstructionsPerOp, metric.CyclesPerOp} {
		if t.some(byOperation[m.Name]) {
			more = append(more[:len(more):len(more)], m.Name)
		}
	}
	for _, name := range more {
		if !slices.Contains(out, name) {
			out = append(out[:len(out):len(out)], name)
		}
	}
	return out
}

// judged returns the metrics whose intervals hold together.
func (t *table) judged() []string {
	return metric.Judged(t.load, t.some(cpuMetric))
}

// some reports whether a window has a probe value above 0.
func (t *table) some(probe string) bool {
	for w := range t.all() {
		if t.value(w, probe) > 0 {
			return true
		}
	}
	return false
}

// levels returns the metrics of an arm over all its windows.
func (t *table) levels(arm string, ws []*window, p *pooled) map[string]record.Value {
	out := map[string]record.Value{}
	for _, name := range t.metrics() {
		m, ok := t.measureOf(name)
		switch {
		case len(ws) == 0:
			out[name] = record.Missing(t.noWindowOf(arm))
		case !ok:
			out[name] = record.Missing(unknownMetric)
		case m.parts != nil:
			above, below, _ := m.sums(ws)
			if out[name] = record.Number(above / below); math.IsNaN(above / below) {
				out[name] = record.Missing(t.whyNone(arm, m))
			}
		case float64(p.total)*(1-m.Quantile) < tail:
			out[name] = record.Missing(fewBeyond)
		default:
			if x := p.quantiles(m.Quantile)[0]; open(x) {
				out[name] = record.Missing(beyondBuckets)
			} else {
				out[name] = record.Number(x)
			}
		}
	}
	return out
}

// sums returns the sums of the parts over the windows, and the number of windows. They are NaN
// where a window lacks a part: a sum over the other windows would be another number.
func (m measure) sums(ws []*window) (above, below, n float64) {
	for _, w := range ws {
		a, b := m.parts(w)
		above, below, n = above+a, below+b, n+1
	}
	return above, below, n
}

// noWindowOf is noWindow with the reason why the last launch of the arm failed, if one did.
func (t *table) noWindowOf(arm string) record.Said {
	why := t.failed[arm]
	if why.IsZero() {
		return noWindow
	}
	return noWindowSince(why.FirstLine())
}

// whyNone is the reason why an arm has no value of a metric.
func (t *table) whyNone(arm string, m measure) record.Said {
	ws := t.windowsOf(arm)
	if len(ws) == 0 {
		return t.noWindowOf(arm)
	}
	if m.Name == metric.CPUPerOp.Name {
		return noCPUTime(t.reason(arm, cpuMetric))
	}
	if p := byOperation[m.Name]; p != "" {
		return t.reason(arm, p)
	}
	if t.says(m.Name) {
		for _, w := range ws {
			if x := t.value(w, ofLoad+m.Name); x <= 0 {
				return valueNotPositive(x)
			}
		}
		return t.reason(arm, ofLoad+m.Name)
	}
	return noOperation
}
