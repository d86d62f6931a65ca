package observed

import (
	"slices"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Join makes one run of the parts that its threads or jobs wrote. It adds rates, and takes the mean of
// latencies, weighted by the rates of the parts if they have rates. The first part becomes the run.
func Join(parts []*Run) *Run {
	out := parts[0]
	rates := make([][]float64, len(parts))
	for i, p := range parts {
		rates[i] = slices.Clone(p.Figure(metric.Throughput).bins)
		if i > 0 {
			out.Errors, out.Clients = out.Errors+p.Errors, out.Clients+p.Clients
			out.Seconds, out.Every = max(out.Seconds, p.Seconds), max(out.Every, p.Every)
			out.latencies.add(&p.latencies)
		}
	}
	if least, most := lengths(rates); most-least > 1 {
		out.Doubts = append(out.Doubts, format.Warning{Line: out.Line,
			Text: unequalParts(least, most), Remedy: lookForEnded})
	}
	size := 1
	for _, f := range out.figures {
		same := make([]*Figure, len(parts))
		for i, p := range parts {
			same[i] = p.Figure(f.Metric)
			size = max(size, same[i].size)
		}
		*f = *joinFigures(same, rates)
	}
	out.Every *= float64(size) // a bin of the parts becomes a report
	return out
}

// lengths returns the smallest and the largest length.
func lengths(lists [][]float64) (least, most int) {
	least = len(lists[0])
	for _, l := range lists {
		least, most = min(least, len(l)), max(most, len(l))
	}
	return least, most
}

// joinFigures joins one metric, up to the shortest series of the parts.
func joinFigures(parts []*Figure, rates [][]float64) *Figure {
	out := NewFigure(parts[0].Metric)
	size, n := 1, 0
	for _, f := range parts {
		size = max(size, f.size)
	}
	for i, f := range parts {
		for f.size < size && len(f.bins) > 1 {
			f.halve()
		}
		if i == 0 || len(f.bins) < n {
			n = len(f.bins)
		}
		out.impossible, out.worst = out.impossible+f.impossible, max(out.worst, f.worst)
	}
	mean := out.Metric.Unit == "s"
	for i := range n {
		total, weight := 0.0, 0.0
		for k, f := range parts {
			w := 1.0
			if mean && len(rates[k]) == len(f.bins) {
				w = rates[k][i]
			}
			total, weight = total+w*f.bins[i], weight+w
		}
		if !mean {
			weight = 1
		}
		if weight > 0 {
			out.put(total / weight)
		}
	}
	return out
}

// histogram counts latencies; the zero value is ready.
type histogram struct {
	counts []uint64
	n      uint64
}

// Latency adds the latency of one operation in nanoseconds.
func (r *Run) Latency(ns int64) {
	if r.latencies.counts == nil {
		r.latencies.counts = make([]uint64, record.Buckets)
	}
	r.latencies.counts[record.Bucket(ns)]++
	r.latencies.n++
}

func (h *histogram) add(other *histogram) {
	if h.counts == nil {
		h.counts = make([]uint64, record.Buckets)
	}
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n += other.n
}

// totals sets the run's quantiles that have at least 10 operations beyond them.
func (h *histogram) totals(r *Run) {
	for _, q := range []float64{0.5, 0.95, 0.99} {
		if float64(h.n)*(1-q) >= 10 {
			r.Total(metric.Quantile(q), h.quantile(q))
		}
	}
}

// quantile returns the upper end of the bucket of the quantile, which is at most 0.2 % too high.
func (h *histogram) quantile(q float64) format.Num {
	seen := uint64(0)
	for i, c := range h.counts {
		if seen += c; c > 0 && float64(seen) >= q*float64(h.n) {
			_, high := record.BucketBounds(i)
			return format.Some(float64(high) * 1e-9)
		}
	}
	return format.Num{}
}
