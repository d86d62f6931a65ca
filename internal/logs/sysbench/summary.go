package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/logs/format"
)

// section is a part of the summary. The same words, such as "read", have another meaning in another
// section.
type section int

const (
	none section = iota // no section has begun, or the last one has ended
	sqlPart
	latencyPart
	generalPart
	fairnessPart
	filePart
	throughputPart // 1.1: of fileio or of the run; 1.0: of fileio
	histogramPart
	cpuPart
)

// headings are the lines that begin a section.
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

// readKnown reads a line of the log's top or of the summary. It returns false for any other line.
func (p *parser) readKnown(text []byte) bool {
	if s, ok := headings[string(text)]; ok {
		p.beginSection(s)
		return true
	}
	if p.top(text) {
		return true
	}
	if bytes.HasPrefix(text, []byte("total time: ")) && p.section == none {
		p.beginSection(generalPart) // the heading is missing
	}
	if p.run == nil || p.closed {
		return false
	}
	target := p.target()
	if !target.line(p.section, text) {
		return false
	}
	target.End = p.Number()
	if p.section == fairnessPart && bytes.HasPrefix(text, []byte("execution time")) {
		p.endSummary()
	}
	return true
}

// beginSection begins a section of the summary.
func (p *parser) beginSection(s section) {
	p.need()
	p.summary, p.head = true, false
	p.section = s
	p.target().End = p.Number()
	switch s {
	case sqlPart:
		p.target().sqlStats()
	case filePart:
		p.target().fileio()
	}
}

// endSummary ends the summary after its last line. The summary of a checkpoint is dropped, and the run
// goes on.
func (p *parser) endSummary() {
	p.closed = p.scratch == nil
	p.section = none
	if p.scratch != nil {
		p.scratch, p.summary = nil, false
	}
}

// target returns the run that gets the lines of the summary: scratch for that of a checkpoint.
func (p *parser) target() *Run {
	if p.scratch != nil {
		return p.scratch
	}
	return p.run
}

// line reads one line of the summary. It returns false for lines without a figure that tare uses.
func (r *Run) line(s section, text []byte) bool {
	if s == histogramPart && r.histogramLine(text) || r.sentenceLine(text) || s == none && r.options(text) {
		return true
	}
	word, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return false
	}
	key, value := string(word), bytes.TrimSpace(value)
	switch s {
	case sqlPart:
		return r.sqlLine(key, value)
	case latencyPart:
		return r.latencyLine(key, value)
	case generalPart:
		return r.generalLine(key, value)
	case throughputPart:
		return r.generalLine(key, value) || r.fileLine(key, value)
	case filePart:
		return r.fileLine(key, value)
	case fairnessPart:
		return r.fairnessLine(key, value)
	case cpuPart:
		return r.cpuLine(key, value)
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
	s, x := r.sqlStats(), format.Leading(value)
	switch key {
	case "read":
		s.Read = x
	case "write":
		s.Write = x
	case "total":
		s.Total = x
	case "transactions":
		s.Transactions, s.TransactionRate = x, inBrackets(value)
	case "queries":
		s.Queries = x
	case "ignored errors":
		s.Errors = x
	default:
		return false
	}
	return true
}

// inBrackets reads the rate in "1364   (678.09 per sec.)".
func inBrackets(value []byte) format.Num {
	_, rate, _ := bytes.Cut(value, []byte("("))
	return format.Leading(rate)
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
	case "events/s (eps)":
		r.general().Rate = x
	default:
		return false
	}
	return true
}

func (r *Run) latencyLine(key string, value []byte) bool {
	if r.Latency == nil {
		r.Latency = &Latency{}
	}
	x := format.Leading(value).Over(milli).NonZero()
	switch key {
	case "min":
		r.Latency.Min = x
	case "max":
		r.Latency.Max = x
	case "avg":
		r.Latency.Avg = x
	case "sum":
		r.summed = x.Known()
	default:
		q, ok := percentileKey([]byte(key))
		if !ok {
			return false
		}
		r.Latency.Percentile = format.Quantile{Q: format.Share(q), Seconds: x}
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
	mean, _, _ := bytes.Cut(value, []byte("/"))
	if key != "execution time (avg/stddev)" {
		return false
	}
	r.fair = format.Whole(mean).Known() // the last line of the summary was read, see Complete
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

func (r *Run) fileio() *FileIO {
	if r.FileIO == nil {
		r.FileIO = &FileIO{}
	}
	r.test("fileio")
	return r.FileIO
}

// fileLine reads a line of fileio's summary, as versions 1.0 and 1.1 write it.
func (r *Run) fileLine(key string, value []byte) bool {
	switch key {
	case "read, MiB/s", "read, MB/s":
		r.fileio().ReadBytes = format.Leading(value).Times(mebi)
	case "written, MiB/s", "written, MB/s":
		r.fileio().WriteBytes = format.Leading(value).Times(mebi)
	case "reads/s":
		r.fileio().Reads = format.Leading(value)
	case "writes/s":
		r.fileio().Writes = format.Leading(value)
	case "fsyncs/s":
		r.fileio().Syncs = format.Leading(value)
	case "read":
		r.fileio().Reads, r.fileio().ReadBytes = iops(value)
	case "write":
		r.fileio().Writes, r.fileio().WriteBytes = iops(value)
	case "fsync":
		r.fileio().Syncs, _ = iops(value)
	default:
		return false
	}
	return true
}

// iops reads operations and bytes per second in version 1.1's "IOPS=9366.47 146.35 MiB/s (153.46 MB/s)".
func iops(value []byte) (operations, bandwidth format.Num) {
	rest, ok := bytes.CutPrefix(value, []byte("IOPS="))
	if !ok {
		return
	}
	if _, mib, more := bytes.Cut(rest, []byte(" ")); more && bytes.Contains(mib, []byte(" MiB/s")) {
		bandwidth = format.Leading(mib).Times(mebi)
	}
	return format.Leading(rest), bandwidth
}

// sentenceLine reads a line that has results in a sentence: of fileio before 1.0, and of memory.
func (r *Run) sentenceLine(text []byte) bool {
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	switch {
	case bytes.HasPrefix(text, []byte("Operations performed: ")) && has(" Total"):
		r.operations(text)
	case bytes.HasPrefix(text, []byte("Read ")) && has("Total transferred "), has("Requests/sec executed"):
		r.fileio()
	case has(" transferred (") && (has("MiB/sec)") || has("MB/sec)")):
		r.test("memory")
		r.Memory = &Memory{Transfer: inBrackets(text).Times(mebi)}
	default:
		return false
	}
	return true
}

// operations reads the counts in "Operations performed:  600 reads, 400 writes, 40 Other = 1040 Total" of
// fileio before 1.0.
func (r *Run) operations(text []byte) {
	r.fileio()
	var n [3]format.Num
	_, rest, _ := bytes.Cut(text, []byte(":"))
	for i := range n {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte(","))
		n[i] = format.Leading(one)
	}
	r.performed = n
}

// histogramLine reads a line of the histogram: "       0.630 |*********     57".
func (r *Run) histogramLine(text []byte) bool {
	left, right, ok := bytes.Cut(text, []byte("|"))
	if !ok {
		return false
	}
	ms, ok := format.Whole(left).Get()
	right = bytes.TrimLeft(right, "* ")
	n, size := format.Uint(right)
	if !ok || size == 0 || size != len(right) || ms <= 0 {
		return false
	}
	r.Histogram = append(r.Histogram, format.Bin{Seconds: ms / milli, Count: n})
	return true
}
