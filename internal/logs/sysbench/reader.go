package sysbench

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const kind format.Kind = "sysbench"

// declared describes sysbench's output.
var declared = &format.Tool{
	Name: Program, Programs: []string{Program},
	Kind:  kind,
	Noise: regexp.MustCompile(`^(?:Done\b|Creating |Inserting |Dropping |Creating a |total time taken|events \(avg|Operations performed|Total operations|No DB drivers|Time limit|\(last message|other(?: operations)?:|deadlocks:|read/write requests:|reconnects:|value  ---|percentile stats|[\d.]+ \|\**|\d+ files, |Removing test files|Preparing |\d+ bytes written)`),
	Begins: []string{"Running the test with following options:", "SQL statistics:", "OLTP test statistics:",
		"Test execution summary:", "Threads fairness:", "sysbench 0.", "sysbench 1.", "General statistics:"},
	IsLine:   isReport,
	ReportAt: reportAt,
	Era:      era,
}

// Reader reads what sysbench prints.
var Reader = observed.Reader{Tool: declared, Versions: "0.4, 0.5, 1.0, 1.1", Kinds: []observed.Kind{{Name: kind, Read: importFile}}}

// isReport reports report lines.
func isReport(b []byte) bool {
	if b[0] != '[' {
		return false
	}
	i := bytes.Index(b, []byte("s ] "))
	if i < 0 {
		i = bytes.Index(b, []byte("s] "))
	}
	if i < 0 || i > 20 {
		return false
	}
	b = b[i:min(len(b), i+24)]
	return format.Has(b, "thds: ") || format.Has(b, "threads: ") || format.Has(b, "reads: ") || format.Has(b, "queue length: ")
}

// reportAt returns where a report line begins; -1: nowhere.
func reportAt(line []byte) int {
	for _, s := range []string{"s ] thds: ", "s] threads: ", "s ] reads: "} {
		if at := bytes.Index(line, []byte(s)); at > 0 {
			return bytes.LastIndexByte(line[:at], '[')
		}
	}
	return -1
}

func era(b []byte) string {
	switch {
	case format.Begins(b, "sysbench "):
		word, _, _ := bytes.Cut(b[len("sysbench "):], []byte(" "))
		return string(bytes.TrimRight(word, ":"))
	case format.Has(b, "threads: "):
		return "0.4 or 0.5"
	case format.Has(b, "thds: "):
		return "1.0 or 1.1"
	}
	return ""
}
