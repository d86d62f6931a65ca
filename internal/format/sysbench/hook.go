package sysbench

import (
	"math"

	"github.com/tarelab/tare/internal/format"
)

// hook is an object of sysbench.report_json; latency is in milliseconds.
type hook struct {
	Time    format.Num `json:"time"`
	Threads format.Num `json:"threads"`
	TPS     format.Num `json:"tps"`
	QPS     struct {
		Total  format.Num `json:"total"`
		Reads  format.Num `json:"reads"`
		Writes format.Num `json:"writes"`
		Other  format.Num `json:"other"`
	} `json:"qps"`
	Latency    format.Num `json:"latency"`
	Errors     format.Num `json:"errors"`
	Reconnects format.Num `json:"reconnects"`
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
	case p.array && format.Begins(text):
		return true, p.object()
	}
	return false, nil
}

// object reads one object of report_json.
func (p *parser) object() error {
	d, err := p.lines.Document()
	if err != nil {
		return err
	}
	var h hook
	if err := d.Decode(&h); err != nil {
		p.warn.Once(d.Line, "a report in JSON could not be read: "+err.Error(), "")
		return nil
	}
	t, known := h.Time.Get()
	if !known || !h.TPS.Known() || t < 0 {
		p.warn.Once(d.Line, "JSON that is no report of sysbench was left out", "")
		return nil
	}
	if p.arrays > 1 && p.run != nil && t >= p.run.Last {
		p.warn.Once(d.Line, "the second JSON array is the total, not a report, and was left out", "")
		return nil
	}
	v := Interval{Line: d.Line, Time: t, Threads: h.Threads, Events: h.TPS, Queries: h.QPS.Total,
		Reads: h.QPS.Reads, Writes: h.QPS.Writes, Other: h.QPS.Other,
		Latency: p.asked(h.Latency), Errors: h.Errors, Reconnects: h.Reconnects}
	return p.reportHook(v)
}

// asked is the percentile of a report that does not say which one it is.
func (p *parser) asked(ms format.Num) format.Quantile {
	if !p.unnamed {
		p.unnamed = true
		p.warn.Add(p.lines.Number(), "the report does not say which percentile its latency is; 95 is sysbench's default",
			"compare with the percentile of the summary")
	}
	return format.Quantile{Q: 0.95, Seconds: ms.Over(milli).Positive()}
}

// reportHook keeps the count of arrays over the start of a run.
func (p *parser) reportHook(v Interval) error {
	arrays := p.arrays
	err := p.report(v)
	p.arrays = arrays
	return err
}

// csv reads the ten numbers of report_csv: time, threads, tps, qps, reads,
// writes, other, latency, errors, reconnects. Without a head of sysbench above
// it, the queries have to add up.
func (p *parser) csv(text []byte) (bool, error) {
	var x [10]float64
	c := cursor{b: text}
	for i := range x {
		if i > 0 {
			c.lit(",")
		}
		x[i] = c.num()
	}
	if c.bad || c.i != len(text) || (p.run == nil || !p.begun) && math.Abs(x[4]+x[5]+x[6]-x[3]) > 0.05 {
		return false, nil
	}
	some := format.Some
	return true, p.report(Interval{Time: x[0], Threads: some(x[1]), Events: some(x[2]), Queries: some(x[3]),
		Reads: some(x[4]), Writes: some(x[5]), Other: some(x[6]),
		Latency: p.asked(some(x[7])), Errors: some(x[8]), Reconnects: some(x[9])})
}
