package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

// section is the part of the summary that a line belongs to: the same words
// mean different things in different parts.
type section int

const (
	none section = iota
	options
	sqlPart
	latencyPart
	generalPart
	fairnessPart
	filePart
	throughputPart // 1.1: of fileio or of the run; 1.0: of fileio
	histogramPart
	cpuPart
)

// headings begin a section.
var headings = map[string]section{
	"SQL statistics:":         sqlPart,
	"OLTP test statistics:":   sqlPart,
	"queries performed:":      sqlPart,
	"General statistics:":     generalPart,
	"Test execution summary:": generalPart,
	"Latency (ms):":           latencyPart,
	"response time:":          latencyPart,
	"per-request statistics:": latencyPart,
	"Threads fairness:":       fairnessPart,
	"File operations:":        filePart,
	"Throughput:":             throughputPart,
	"CPU speed:":              cpuPart,
	"Latency histogram (values are in milliseconds)": histogramPart,
}

// known takes a line of the top or of the summary and says whether it is one.
func (p *parser) known(text []byte) bool {
	if s, ok := headings[string(text)]; ok {
		p.heading(s)
		return true
	}
	if p.top(text) {
		return true
	}
	if p.run == nil || p.closed {
		return false
	}
	target := p.target()
	if !target.line(p.section, text) {
		return false
	}
	target.End = p.lines.Number()
	if p.section == fairnessPart && bytes.HasPrefix(text, []byte("execution time")) {
		p.finished()
	}
	return true
}

// heading begins a section of the summary.
func (p *parser) heading(s section) {
	if p.run == nil || p.closed {
		p.start(false)
	}
	p.summary, p.head = true, false
	p.section = s
	p.target().End = p.lines.Number()
	if s == sqlPart {
		p.target().sqlStats()
	}
}

// finished ends the summary at its last line. That of a checkpoint is dropped.
func (p *parser) finished() {
	p.closed = p.scratch == nil
	p.section = none
	if p.scratch != nil {
		p.scratch, p.summary = nil, false
	}
}

func (p *parser) target() *Run {
	if p.scratch != nil {
		return p.scratch
	}
	return p.run
}

// line reads one line of the summary into the run.
func (r *Run) line(s section, text []byte) bool {
	if s == histogramPart && r.bar(text) {
		return true
	}
	if r.sentence(text) {
		return true
	}
	key, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return false
	}
	value = bytes.TrimSpace(value)
	switch s {
	case sqlPart:
		return r.sqlLine(string(key), value)
	case latencyPart:
		return r.latencyLine(string(key), value)
	case generalPart:
		return r.generalLine(string(key), value)
	case throughputPart:
		return r.generalLine(string(key), value) || r.fileLine(string(key), value)
	case filePart:
		return r.fileLine(string(key), value)
	case fairnessPart:
		return r.fairnessLine(string(key), value)
	case cpuPart:
		return r.cpuLine(string(key), value)
	}
	return false
}

func (r *Run) sqlStats() *SQL {
	if r.SQL == nil {
		r.SQL = &SQL{}
	}
	r.test("oltp")
	return r.SQL
}

func (r *Run) sqlLine(key string, value []byte) bool {
	s := r.sqlStats()
	switch key {
	case "read":
		s.Read = format.Leading(value)
	case "write":
		s.Write = format.Leading(value)
	case "other":
		s.Other = format.Leading(value)
	case "total":
		s.Total = format.Leading(value)
	case "transactions":
		s.Transactions = count(value)
	case "queries":
		s.Queries = count(value)
	case "read/write requests":
		s.ReadWrite = count(value)
	case "other operations":
		s.OtherOps = count(value)
	case "deadlocks":
		s.Deadlocks = count(value)
	case "ignored errors":
		s.Errors = count(value)
	case "reconnects":
		s.Reconnects = count(value)
	default:
		return false
	}
	return true
}

// count reads "1364   (678.09 per sec.)".
func count(value []byte) Count {
	c := Count{Total: format.Leading(value)}
	if i := bytes.IndexByte(value, '('); i >= 0 {
		c.Rate = format.Leading(value[i+1:])
	}
	return c
}

func (r *Run) general() *General {
	if r.General == nil {
		r.General = &General{}
	}
	return r.General
}

func (r *Run) generalLine(key string, value []byte) bool {
	x := format.Leading(value)
	switch key {
	case "total time", "time elapsed":
		r.general().Time = x
	case "total number of events":
		r.general().Events = x
	case "total time taken by event execution":
		r.general().Busy = x
	case "events/s (eps)":
		r.general().Rate = x
	default:
		return false
	}
	return true
}

func (r *Run) latency() *Latency {
	if r.Latency == nil {
		r.Latency = &Latency{}
	}
	return r.Latency
}

func (r *Run) latencyLine(key string, value []byte) bool {
	l, x := r.latency(), format.Leading(value).Over(milli).Positive()
	switch key {
	case "min":
		l.Min = x
	case "avg":
		l.Avg = x
	case "max":
		l.Max = x
	case "sum":
		l.Sum = x
	case "percentile stats":
	default:
		q, ok := percentileKey([]byte(key))
		if !ok {
			return false
		}
		l.Percentile = format.Quantile{Q: format.Share(q), Seconds: x}
	}
	return true
}

// percentileKey reads "95th percentile" and "approx.  95 percentile".
func percentileKey(key []byte) (float64, bool) {
	rest, ok := bytes.CutSuffix(key, []byte(" percentile"))
	if !ok {
		return 0, false
	}
	rest, _ = bytes.CutSuffix(rest, []byte("th"))
	rest, _ = bytes.CutPrefix(rest, []byte("approx."))
	q, ok := format.Whole(rest).Get()
	return q, ok && q > 0 && q <= 100
}

func (r *Run) fairnessLine(key string, value []byte) bool {
	if r.Fairness == nil {
		r.Fairness = &Fairness{}
	}
	mean, dev, _ := bytes.Cut(value, []byte("/"))
	switch key {
	case "events (avg/stddev)":
		r.Fairness.EventsMean, r.Fairness.EventsDev = format.Whole(mean), format.Whole(dev)
	case "execution time (avg/stddev)":
		r.Fairness.TimeMean, r.Fairness.TimeDev = format.Whole(mean), format.Whole(dev)
	default:
		return false
	}
	return true
}

func (r *Run) cpuLine(key string, value []byte) bool {
	if key != "events per second" {
		return false
	}
	r.test("cpu")
	r.general().Rate = format.Leading(value)
	return true
}
