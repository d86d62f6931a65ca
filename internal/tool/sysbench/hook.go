package sysbench

import (
	"math"

	"github.com/tarelab/tare/internal/format"
)

// hook is an object of sysbench.report_json; latency is in milliseconds.
type hook struct {
	Time, Threads, TPS, Latency *float64
	QPS                         struct{ Total, Writes *float64 }
}

var comma = []byte(",")

// hooks takes what report_json writes instead of report lines.
func (p *parser) hooks(text []byte) (bool, error) {
	switch {
	case string(text) == "[":
		p.array = true
		p.arrays++
		return true, nil
	case p.array && (text[0] == ']' || text[0] == ','):
		p.array = text[0] == ','
		return true, nil
	case p.array && format.BeginsJSON(text):
		return true, p.object()
	}
	return false, nil
}

// object reads one object of report_json.
func (p *parser) object() error {
	var h hook
	line, err := p.JSON(&h)
	if line == 0 || err != nil {
		return err
	}
	t, known := format.Given(h.Time).Get()
	if !known || h.TPS == nil || t < 0 {
		p.Once(line, "JSON that is no report of sysbench was left out", "")
		return nil
	}
	if p.arrays > 1 && p.run != nil && t >= p.run.Last {
		p.Once(line, "the second JSON array is the total, not a report, and was left out", "")
		return nil
	}
	arrays := p.arrays
	err = p.report(Interval{Line: line, Time: t, Threads: format.Given(h.Threads), Events: format.Given(h.TPS),
		Queries: format.Given(h.QPS.Total),
		Writes:  format.Given(h.QPS.Writes), Latency: p.asked(format.Given(h.Latency))})
	p.arrays = arrays // also over the start of a run
	return err
}

// asked is the percentile of a report that does not say which one it is.
func (p *parser) asked(ms format.Num) format.Quantile {
	if !p.unnamed {
		p.unnamed = true
		p.Add(p.Number(), "the report does not say which percentile its latency is; 95 is sysbench's default",
			"compare with the percentile of the summary")
	}
	return format.Quantile{Q: 0.95, Seconds: ms.Over(milli).NonZero()}
}

// csv reads the ten numbers of report_csv: time, threads, tps, qps, reads,
// writes, other, latency, errors, reconnects. Without a head of sysbench above
// it, the queries have to add up.
func (p *parser) csv(text []byte) (bool, error) {
	var x [10]float64
	c := format.Cursor{B: text}
	for i := range x {
		if i > 0 {
			c.Lit(",")
		}
		x[i] = c.Num()
	}
	if c.Bad || c.I != len(text) || (p.run == nil || !p.begun) && math.Abs(x[4]+x[5]+x[6]-x[3]) > 0.05 {
		return false, nil
	}
	some := format.Some
	return true, p.report(Interval{Time: x[0], Threads: some(x[1]), Events: some(x[2]), Queries: some(x[3]),
		Writes: some(x[5]), Latency: p.asked(some(x[7]))})
}
