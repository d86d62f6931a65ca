package pgbench

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const (
	kind format.Kind = "pgbench"     // progress and summary
	logs format.Kind = "pgbench-log" // one line per transaction
)

// declared describes pgbench's output.
var declared = &format.Tool{
	Name: Program, Programs: []string{Program},
	Kind:  kind,
	Noise: regexp.MustCompile(`^(?:latency stddev|initial connection time|maximum number of tries|number of (?:transactions (?:per client|retried)|(?:serialization|deadlock|other) failures)|total number of retries|statement latencies|\d+\.\d+\s+(?:\d+\s+)*\S|dropping old|NOTICE: |creating |generating |vacuuming|done|\d+ of \d+ tuples|server closed|This probably means|before or while|end\.|set primary)`),
	Begins: []string{"transaction type: ", "number of transactions actually processed: ", "pgbench (", "tps = ",
		"query mode: ", "number of clients: ", "number of transactions per client: "},
	IsLine:   func(b []byte) bool { return progressAt(b) == 0 },
	ReportAt: progressAt,
	Era:      era,
	Shapes: []format.Shape{
		{Kind: logs, Line: isTransaction, Confidence: format.Likely},
	},
}

// Reader reads what pgbench prints and the logs that it writes.
var Reader = observed.Reader{Tool: declared, Versions: "9.3 to 18", Kinds: []observed.Kind{
	{Name: kind, Read: importFile},
	{Name: logs, Read: importLog, Whole: wholeLog},
}}

// progressAt returns where a progress line begins; -1: nowhere.
func progressAt(line []byte) int {
	if !format.Has(line, " tps, lat ") {
		return -1
	}
	return bytes.Index(line, []byte("progress: "))
}

// isTransaction reports a line of the log of transactions.
func isTransaction(line []byte) bool {
	if line[0]-'0' > 9 || bytes.IndexByte(line, ',') > 0 {
		return false
	}
	fields := bytes.Fields(line)
	if len(fields) < 6 || len(fields) > 8 {
		return false
	}
	for i, f := range fields {
		if !format.Whole(f).Known() && i != 2 {
			return false
		}
	}
	epoch, ok := format.Whole(fields[4]).Get()
	return ok && epoch >= 1e9 && epoch < 1e10
}

var (
	numbered = regexp.MustCompile(`^(.+)\.\d+$`)
	// pgbench -j writes PREFIX.PID for the first thread and PREFIX.PID.N for the others.
	threadLog = regexp.MustCompile(`^(.+\.\d+)\.\d{1,3}$`)
)

// wholeLog names the run of which a log has one thread: a log and further ones NAME.N, or logs
// PREFIX.PID.N whose first was not imported.
func wholeLog(path string, files []string) string {
	name := func(f string) string { return strings.TrimSuffix(f, ".gz") }
	path = name(path)
	further := func(f string) bool { m := numbered.FindStringSubmatch(name(f)); return m != nil && m[1] == path }
	if slices.ContainsFunc(files, further) {
		return path
	}
	if m := numbered.FindStringSubmatch(path); m != nil {
		if slices.ContainsFunc(files, func(f string) bool { return name(f) == m[1] }) {
			return m[1]
		}
	}
	if m := threadLog.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

func era(b []byte) string {
	if !format.Begins(b, "pgbench (") {
		return ""
	}
	b = b[len("pgbench ("):]
	return string(b[:len(b)-len(bytes.TrimLeft(b, "0123456789.-abcdefghijklmnopqrstuvwxyz"))])
}
