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
	FioLog2       Kind = "fio2-log"             // of fio 2, for latencies of which nothing tells the unit
	FioLog3       Kind = "fio3-log"             // of fio 3
	ClickHouseLog Kind = "clickhouse-benchmark" // clickhouse.Parse: text and JSON
	PgBenchOutput Kind = "pgbench"              // pgbench.Parse: progress and summary
	PgBenchLog    Kind = "pgbench-log"          // pgbench.ParseLog: one line per transaction
	PgBenchAgg    Kind = "pgbench-aggregate"    // pgbench.ParseAggregate
	HyperfineJSON Kind = "hyperfine"            // hyperfine.Parse
	RedisLog      Kind = "redis-benchmark"      // redis.Parse: text, -q and --csv
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
}

// Detect says what wrote a file, from the beginning of its text (see Open).
// The name only breaks ties between formats that look the same.
func Detect(name string, head []byte) Found {
	f, own := Found{}, -1
	shape, marks := shapes{}, learn(head)
	for n := 1; len(head) > 0; n++ {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		line = marks.bare(unstamp(bytes.TrimRight(line, "\r")))
		shape.look(line)
		i := indexOf(line)
		if i < 0 {
			continue
		}
		if own < 0 {
			own, f = i, Found{Kind: tools[i].kind, Confidence: Certain, Why: clip(line)}
		}
		if i != own {
			break // another tool's output begins
		}
		if f.Era == "" {
			f.Era = tools[i].era(bytes.TrimLeft(line, " \t"))
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

func clip(line []byte) string {
	s := string(bytes.TrimSpace(line))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
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
