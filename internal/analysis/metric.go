package analysis

import (
	"math"

	"github.com/tarelab/tare/record"
)

// metric is how a number of a window and of many windows comes about. It is
// data of the analysis, found by the metric's name in the record.
type metric struct {
	name     string
	better   int // +1: more is better
	quantile float64
	// one is the metric of one window, NaN when it has none.
	one func(*record.Window) float64
}

// CPUMetric is the probe value that CPU time per operation comes from.
const CPUMetric = "cpu.time"

// tail is the least number of operations beyond a quantile that carry it
// (method, section 2), and tailWindow the least in one window.
const (
	tail       = 40
	tailWindow = 10
)

var metrics = map[string]metric{
	"throughput": {name: "throughput", better: +1, one: func(w *record.Window) float64 { return w.Rate() }},
	"p50":        quantile("p50", 0.50),
	"p95":        quantile("p95", 0.95),
	"p99":        quantile("p99", 0.99),
	"cpu_per_op": {name: "cpu_per_op", better: -1, one: cpuPerOp},
}

// metricOf finds a metric of a workload: one that every load has, or one that
// this load says itself.
func metricOf(load record.Workload, name string) (metric, bool) {
	if m, ok := metrics[name]; ok {
		return m, true
	}
	for _, v := range load.Values {
		if v.Name == name {
			return metric{name: name, better: v.Better, one: said(name)}, true
		}
	}
	return metric{}, false
}

// said is what the load says of a window. A ratio can be made of positive
// numbers only, so others have none.
func said(name string) func(*record.Window) float64 {
	return func(w *record.Window) float64 {
		if x, ok := w.Values[name].Get(); ok && x > 0 {
			return x
		}
		return math.NaN()
	}
}

func quantile(name string, q float64) metric {
	return metric{name: name, better: -1, quantile: q, one: func(w *record.Window) float64 {
		return w.Latency.Quantile(q)
	}}
}

func cpuPerOp(w *record.Window) float64 {
	x, ok := w.Probes[CPUMetric].Get()
	if !ok || w.Ops == 0 {
		return math.NaN()
	}
	return x / float64(w.Ops)
}

// pooled is the latencies of one arm: their sum, and the windows by unit.
type pooled struct {
	all   []uint64
	total uint64
	units [][]*record.Window
}

func pool(t *table, arm string) *pooled {
	p := &pooled{all: make([]uint64, record.Buckets), units: make([][]*record.Window, t.units)}
	for _, r := range t.rows {
		w := r.windows[arm]
		if w == nil {
			continue
		}
		p.units[r.unit] = append(p.units[r.unit], w)
		for i, b := range w.Latency.Index {
			p.all[b] += w.Latency.Count[i]
			p.total += w.Latency.Count[i]
		}
	}
	return p
}

// quantiles are the quantiles qs (ascending) in seconds without the unit skip
// (-1 for none); NaN without operations. scratch is as long as all.
func (p *pooled) quantiles(qs []float64, skip int, scratch []uint64) []float64 {
	counts, total := p.all, p.total
	if skip >= 0 {
		copy(scratch, p.all)
		counts = scratch
		for _, w := range p.units[skip] {
			for i, b := range w.Latency.Index {
				counts[b] -= w.Latency.Count[i]
				total -= w.Latency.Count[i]
			}
		}
	}
	return walk(counts, total, qs)
}

func walk(counts []uint64, total uint64, qs []float64) []float64 {
	out := make([]float64, len(qs))
	for i := range out {
		out[i] = math.NaN()
	}
	seen, next := 0.0, 0
	for b, c := range counts {
		if next == len(qs) || total == 0 {
			break
		}
		if c == 0 {
			continue
		}
		for next < len(qs) && seen+float64(c) >= qs[next]*float64(total) {
			low, high := record.BucketBounds(b)
			part := (qs[next]*float64(total) - seen) / float64(c)
			out[next] = (float64(low) + part*float64(high-low)) * 1e-9
			next++
		}
		seen += float64(c)
	}
	return out
}
