package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// The number of bins of a histogram of windows, and of one of latencies.
const (
	spreadParts  = 24
	latencyParts = 96
)

// shownQuantiles are the quantiles that a distribution of latencies has.
var shownQuantiles = []float64{0.50, 0.90, 0.95, 0.99, 0.999}

// Detail returns the single windows and the latencies, as charts show them.
func Detail(r *record.Result) (*record.Detail, error) {
	out := &record.Detail{}
	var tables []*table
	var all []*points
	for _, load := range r.Plan.Workloads {
		t := newTable(load, 0)
		tables, all = append(tables, t), append(all, &points{table: t, by: map[string][]record.Point{}})
	}
	err := r.Each(func(l *record.Line) {
		for i, t := range tables {
			t.line(l)
			all[i].line(l)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		t.finish()
		out.Series = append(out.Series, all[i].series()...)
		out.Latency = append(out.Latency, latencies(t)...)
	}
	return out, nil
}

// seriesMetric is the throughput, or the primary metric of a load that counts no operations.
func (t *table) seriesMetric() (measure, bool) {
	name := metric.Throughput.Name
	if !slices.Contains(t.load.Metrics, name) {
		name = t.load.Primary
	}
	return t.measureOf(name)
}

// points are the single windows, or the reports of imported runs, by arm.
type points struct {
	*table
	by      map[string][]record.Point
	reports []*record.Observed
}

func (p *points) line(l *record.Line) {
	m, ok := p.seriesMetric()
	switch {
	case !ok:
	case l.Pilot != nil && l.Pilot.Workload == p.load.Name && len(p.rows) == 0:
		clear(p.by)
	case l.Block != nil && l.Block.Workload == p.load.Name:
		p.block(m, l.Block)
	case l.Observed != nil && l.Observed.Workload == p.load.Name:
		p.reports = append(p.reports, l.Observed)
	}
}

func (p *points) series() []record.Series {
	m, ok := p.seriesMetric()
	if !ok {
		return nil
	}
	counted := slices.ContainsFunc(p.reports, func(o *record.Observed) bool { return unclocked(m.Name, o) })
	for _, o := range p.reports {
		addReports(p.by, m.Name, o, counted)
	}
	var out []record.Series
	low, high := math.Inf(1), math.Inf(-1)
	for _, a := range p.load.Arms {
		ps := p.by[a.Name]
		if len(ps) == 0 {
			continue
		}
		slices.SortStableFunc(ps, func(a, b record.Point) int { return cmp.Compare(a.At, b.At) })
		for _, x := range ps {
			if x.Dropped == "" {
				low, high = min(low, x.Value), max(high, x.Value)
			}
		}
		out = append(out, record.Series{Workload: p.load.Name, Arm: a.Name, Metric: m.Name, Unit: m.Unit, Points: ps, Counted: counted})
	}
	for i := range out {
		out[i].Low, out[i].High = finite(low), finite(high)
		out[i].Spread = spread(out[i].Points, low, high)
	}
	return out
}

func (p *points) block(m measure, b *record.Block) {
	for i := range b.Windows {
		w := &b.Windows[i]
		arm, ok := p.index[w.Arm]
		if !ok {
			continue
		}
		x := m.one(p.compact(arm, w))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		p.by[w.Arm] = append(p.by[w.Arm], record.Point{
			At: w.Start, Value: x, Generation: b.Generation, Block: b.Number, Dropped: dropped(b, i)})
	}
}

// spread is a histogram of the points from low to high; nil where these are equal.
func spread(points []record.Point, low, high float64) []int {
	if !(high > low) {
		return nil
	}
	out := make([]int, spreadParts)
	for _, p := range points {
		if p.Dropped == "" {
			i := int(float64(spreadParts) * (p.Value - low) / (high - low))
			out[min(max(i, 0), spreadParts-1)]++
		}
	}
	return out
}

// latencies returns the distribution of each arm, all with the same bins.
func latencies(t *table) []record.Distribution {
	pools := map[string]*pooled{}
	low, high := math.Inf(1), 0.0
	for _, arm := range t.arms {
		p := t.pool(arm)
		if p.total == 0 {
			continue
		}
		pools[arm] = p
		ends := p.quantiles(0.0005, 0.9995)
		low, high = min(low, max(ends[0], 1e-9)), max(high, ends[1])
	}
	var out []record.Distribution
	for _, arm := range t.arms {
		p := pools[arm]
		if p == nil {
			continue
		}
		d := record.Distribution{Workload: t.load.Name, Arm: arm, Operations: p.total, Low: low, High: high}
		d.Shares = p.shares(low, high)
		for i, x := range p.quantiles(shownQuantiles...) {
			v := record.Number(x)
			if float64(p.total)*(1-shownQuantiles[i]) < tail {
				v = record.Missing(fewBeyond)
			}
			d.Quantiles = append(d.Quantiles, record.Quantile{Q: shownQuantiles[i], Value: v})
		}
		out = append(out, d)
	}
	return out
}

// shares returns the share of the operations in each bin. A bucket is spread evenly over the
// bins that it overlaps, as a bin may be narrower than a bucket.
func (p *pooled) shares(low, high float64) []float64 {
	if !(high > low) {
		return nil
	}
	out := make([]float64, latencyParts)
	width := math.Log(high/low) / latencyParts
	at := func(ns int64) float64 { return math.Log(max(float64(ns)*1e-9, 1e-10)/low) / width }
	for b, n := range p.all {
		if n == 0 {
			continue
		}
		from, to := record.BucketBounds(b)
		x0, x1 := at(from), at(to)
		for i := max(int(math.Floor(x0)), 0); float64(i) < x1 && i < latencyParts; i++ {
			out[i] += float64(n) / float64(p.total) * (min(x1, float64(i+1)) - max(x0, float64(i))) / (x1 - x0)
		}
		if x0 < 0 {
			out[0] += float64(n) / float64(p.total) * (min(x1, 0) - x0) / (x1 - x0)
		}
		if x1 > latencyParts {
			out[latencyParts-1] += float64(n) / float64(p.total) * (x1 - max(x0, latencyParts)) / (x1 - x0)
		}
	}
	return out
}
