package redis

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const kind format.Kind = tool // text, -q and --csv

// csvHeading begins the heading of --csv since 6.2.
const csvHeading = `"test","rps","avg_latency_ms",`

// declared describes the output of redis-benchmark and valkey-benchmark.
var declared = &format.Tool{
	Name: tool, Programs: []string{tool, "valkey-benchmark"},
	Kind:  kind,
	Noise: regexp.MustCompile(`^(?:\S.*: -?\d+\.\d+$|Killed$)`),
	Begins: []string{"Latency by percentile distribution:", "Cumulative distribution of latencies:", "throughput summary: ",
		"latency summary (msec):", `host configuration "save": `, csvHeading, "test,rps,avg_latency_ms,",
		"keep alive: ", "Could not connect to Redis at "},
	IsLine:   itsLine,
	ReportAt: func(line []byte) int { return bytes.Index(line, []byte(csvHeading)) },
	Era:      era,
	Shapes:   []format.Shape{{Kind: kind, Era: "before 6.2", Line: csvRow, AllLines: true, Confidence: format.Likely}},
}

// Reader reads what redis-benchmark and valkey-benchmark print.
var Reader = observed.Reader{Tool: declared, Versions: versions, Kinds: []observed.Kind{{Name: kind, Read: importFile}}}

// itsLine reports lines that begin with a number or the name of a test. A line may have many progress reports
// with CR between them.
func itsLine(b []byte) bool {
	const rate = " requests per second"
	end := bytes.TrimRight(b, " \t\r")
	if at := bytes.LastIndex(end, []byte(rate)); at > 0 && (at+len(rate) == len(end) || format.Has(end[at:], rate+", p50=")) {
		word := end[bytes.LastIndexByte(end[:at], ' ')+1 : at] // two decimals, or inf
		return len(word) > 3 && word[len(word)-3] == '.' && format.Leading(word).Known() || string(word) == "inf"
	}
	switch {
	case format.Has(b, "milliseconds") && b[0]-'0' <= 9:
		return format.Has(b[:min(len(b), 16)], "% <= ")
	case bytes.HasSuffix(end, []byte(" parallel clients")), bytes.HasSuffix(end, []byte(" bytes payload")):
		return b[0]-'0' <= 9
	}
	return format.Has(b, ": rps=") && format.Has(b, " (overall: ") && format.Has(b, ") avg_msec=") ||
		format.Has(b, " requests completed in ") && b[0]-'0' <= 9
}

// csvRow reports a line of --csv before 6.2, which had no heading: "SET","85034.02".
func csvRow(b []byte) bool {
	at := bytes.LastIndex(b, []byte(`","`))
	if at < 1 || at+3 >= len(b) || b[0] != '"' || b[len(b)-1] != '"' {
		return false
	}
	rate := b[at+3 : len(b)-1]
	return len(rate) > 3 && rate[len(rate)-3] == '.' && format.Whole(rate).Known()
}

func era(b []byte) string {
	switch {
	case format.Has(b, ", p50="), format.Has(b, "avg_msec="), format.Has(b, "(cumulative count "), format.Begins(b, "Latency by "),
		format.Has(b, "avg_latency_ms"), format.Has(b, " summary"):
		return "6.2 or later"
	case format.Has(b, "% <= "), format.Has(b, " requests per second"):
		return "before 6.2"
	}
	return ""
}
