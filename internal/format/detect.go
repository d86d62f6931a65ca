package format

import (
	"bytes"
	"path/filepath"
	"strings"
)

// Kind is what a file is: which reader takes it.
type Kind string

// The kinds, with the reader of each.
const (
	Unknown       Kind = ""
	SysbenchLog   Kind = "sysbench"             // sysbench.Parse
	FioOutput     Kind = "fio"                  // fio.Parse: JSON, text and terse
	FioLog        Kind = "fio-log"              // fio.ParseLog: one line per I/O or average
	ClickHouseLog Kind = "clickhouse-benchmark" // clickhouse.Parse: text and JSON
	PgBenchOutput Kind = "pgbench"              // pgbench.Parse: progress and summary
	PgBenchLog    Kind = "pgbench-log"          // pgbench.ParseLog: one line per transaction
	PgBenchAgg    Kind = "pgbench-aggregate"    // pgbench.ParseAggregate
	HyperfineJSON Kind = "hyperfine"            // hyperfine.Parse
	CSV           Kind = "csv"                  // csv.Parse: also hyperfine's
)

// Confidence is how sure Detect is.
type Confidence int

// The degrees.
const (
	None    Confidence = iota
	Guess              // the shape fits, and nothing speaks against it
	Likely             // the shape fits only this
	Certain            // the tool's own words
)

var confidenceNames = [...]string{"none", "guess", "likely", "certain"}

func (c Confidence) String() string { return confidenceNames[min(max(c, 0), Certain)] }

// Found is the answer of Detect.
type Found struct {
	Kind Kind
	// Era is the version or the span of versions, as far as the text tells:
	// "1.0.20", "0.5", "2.x", "20 to 23.7"; empty when it does not.
	Era        string
	Confidence Confidence
	Why        string // the line or shape that decided
	Line       int    // where that is
	// Other is a second tool whose output begins at OtherLine; empty for none.
	Other     Tool
	OtherLine int
}

var kindOf = map[Tool]Kind{Sysbench: SysbenchLog, Fio: FioOutput, ClickHouse: ClickHouseLog,
	PgBench: PgBenchOutput, Hyperfine: HyperfineJSON}

// Detect says what wrote a file, from the beginning of its text (see Open).
// The name only breaks ties between formats that look the same.
func Detect(name string, head []byte) Found {
	f := Found{}
	shape := shapes{}
	for n := 1; len(head) > 0; n++ {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		line = unstamp(bytes.TrimRight(line, "\r"))
		shape.look(line, n)
		f.see(line, n)
		if f.Other != "" {
			break
		}
	}
	if f.Kind == Unknown {
		f = shape.found(name)
	}
	if f.Kind == Unknown {
		f.Why = shape.why()
	}
	return f
}

// see looks for a tool's own words in a line.
func (f *Found) see(line []byte, n int) {
	t := ToolOf(line)
	switch {
	case t == "":
		return
	case f.Kind == Unknown:
		f.Kind, f.Confidence, f.Line, f.Why = kindOf[t], Certain, n, clip(line)
	case kindOf[t] != f.Kind:
		f.Other, f.OtherLine = t, n
		return
	}
	if f.Era == "" {
		f.Era = era(t, line)
	}
}

func clip(line []byte) string {
	s := string(bytes.TrimSpace(line))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// era reads the version out of a line of the tool.
func era(t Tool, line []byte) string {
	has := func(s string) bool { return bytes.Contains(line, []byte(s)) }
	switch t {
	case Sysbench:
		if b, ok := bytes.CutPrefix(line, []byte("sysbench ")); ok {
			return string(bytes.TrimRight(b[:blank(b)], ":"))
		}
		switch {
		case has("threads: "):
			return "0.4 or 0.5"
		case has("thds: "):
			return "1.0 or 1.1"
		}
	case Fio:
		if i := bytes.Index(line, []byte("fio-")); i >= 0 {
			return string(line[i+4 : i+4+version(line[i+4:])])
		}
	case ClickHouse:
		switch {
		case has(", queries: "):
			return "23.8 or later"
		case has("connection ") && has(", queries "):
			return "19.x"
		case has(", queries "):
			return "20 to 23.7"
		case has("QPS: "):
			return "1.1 to 18.x"
		}
	case PgBench:
		if b, ok := bytes.CutPrefix(line, []byte("pgbench (")); ok {
			return string(b[:version(b)])
		}
	}
	return ""
}

// blank returns the length of the first word.
func blank(b []byte) int {
	if i := bytes.IndexAny(b, " \t"); i >= 0 {
		return i
	}
	return len(b)
}

// version returns the length of a version number such as 3.33 or 3.36-12-gab.
func version(b []byte) int {
	i := 0
	for i < len(b) && (b[i]-'0' <= 9 || b[i]-'a' <= 'z'-'a' || b[i] == '.' || b[i] == '-') {
		i++
	}
	return i
}

// logName says whether a name ends like fio's logs: run_lat.1.log, x_iops.log.
func logName(name string) bool {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".log")
	for _, kind := range []string{"_lat", "_slat", "_clat", "_bw", "_iops", "_clat_hist"} {
		if i := strings.LastIndex(base, kind); i >= 0 && strings.Trim(base[i+len(kind):], ".0123456789") == "" {
			return true
		}
	}
	return false
}
