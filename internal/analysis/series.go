package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

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
	*table  // of its own: dropped windows are points and count in nothing else
	counted *table
	by      map[string][]record.Point
	reports []*record.Observed
}

func (p *points) line(l *record.Line) {
	m, ok := p.seriesMetric()
	switch {
	case !ok:
	case l.Pilot != nil && l.Pilot.Workload == p.load.Name && len(p.counted.rows) == 0:
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
	for _, a := range p.load.Arms {
		ps := p.by[a.Name]
		if len(ps) == 0 {
			continue
		}
		slices.SortStableFunc(ps, func(a, b record.Point) int { return cmp.Compare(a.At, b.At) })
		out = append(out, record.Series{Workload: p.load.Name, Arm: a.Name, Metric: m.Name, Unit: m.Unit, Points: ps, Counted: counted})
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
		counts := *w
		if m.Quantile == 0 {
			counts.Latency = record.Histogram{} // most of a window
		}
		x := m.one(p.compact(arm, &counts))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		p.by[w.Arm] = append(p.by[w.Arm], record.Point{
			At: w.Start, Value: x, Generation: b.Generation, Block: b.Number, Dropped: w.Dropped})
	}
}
