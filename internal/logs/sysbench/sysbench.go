// Package sysbench knows how sysbench 1.0 and 1.1 are run: versions, arguments, the option file with the
// password, and the Lua script that counts events in tare's shared memory. It reads what 0.4.12, 0.5, 1.0
// and 1.1 print: options, report lines, summary and histogram. A file may hold several runs, or only a few
// report lines.
//
// It starts nothing and does not know what is compared. The caller gets report lines one by one, so memory
// does not grow with the log.
package sysbench

import (
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// Interval is one report line: rates since the report before.
type Interval struct {
	Line int `json:"line"` // of the file, from 1
	Run  int `json:"run"`  // index in Log.Runs
	// Time of the line, in seconds since the run began.
	Time float64 `json:"time"`

	Threads format.Num `json:"threads,omitzero"`
	// Events per second: transactions (tps) of a database test, eps of others.
	Events format.Num `json:"events,omitzero"`
	// Queries per second, writes among them; 0.4 and 0.5 do not print Queries.
	Queries format.Num `json:"queries,omitzero"`
	Writes  format.Num `json:"writes,omitzero"`
	Errors  format.Num `json:"errors,omitzero"` // per second
	// Latency is the percentile of --percentile, in seconds. A printed 0.00 is missing: there was
	// no event, or the latency is below the resolution.
	Latency format.Quantile `json:"latency,omitzero"`

	// Bytes per second of fileio, transfers of memory.
	ReadBytes  format.Num `json:"read_bytes,omitzero"`
	WriteBytes format.Num `json:"write_bytes,omitzero"`
	Transfer   format.Num `json:"transfer,omitzero"`

	queue bool // no report line but the queue length that --rate prints
}

// Log is the content of one input.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one run of sysbench. Figures that the log does not have are missing: a run of report lines only has
// Line, Intervals, First and Last.
type Run struct {
	Line    int    `json:"line"` // first line
	End     int    `json:"end"`  // last line
	Version string `json:"version,omitempty"`
	// Test is the kind of test, by its output: oltp (any database script), fileio, memory, cpu;
	// empty: not known.
	Test string `json:"test,omitempty"`

	// Settings of the test, from the lines above its result.
	Settings []record.Setting `json:"settings,omitempty"`

	Threads format.Num `json:"threads,omitzero"`
	Rate    format.Num `json:"rate,omitzero"`   // events per second asked for
	Warmup  format.Num `json:"warmup,omitzero"` // seconds

	Intervals int     `json:"intervals"` // report lines
	First     float64 `json:"first"`     // seconds, Time of the first report line
	Last      float64 `json:"last"`      // seconds, Time of the last one
	// Checkpoints counts the full reports of --report-checkpoints. The summary then counts from
	// the last checkpoint on.
	Checkpoints int `json:"checkpoints,omitempty"`

	SQL     *SQL     `json:"sql,omitempty"`
	FileIO  *FileIO  `json:"fileio,omitempty"`
	Memory  *Memory  `json:"memory,omitempty"`
	General *General `json:"general,omitempty"`
	Latency *Latency `json:"latency,omitempty"`
	// Histogram is that of --histogram. Each value is the middle of its bin, which is about 1.8 %
	// wide.
	Histogram []format.Bin `json:"histogram,omitempty"`
	// Failures are the lines that begin with FATAL or ALERT.
	Failures format.Failures `json:"failures,omitzero"`

	performed    [3]format.Num // reads, writes and syncs of fileio before 1.0
	summed, fair bool          // the last lines of the latencies and of the fairness were read
}

// Complete reports whether the log has the summary to its end. (fileio of 1.1 prints nothing behind the
// latency.)
func (r *Run) Complete() bool { return r.fair || r.FileIO != nil && r.General == nil && r.summed }

// SQL is the statistics of a database test.
type SQL struct {
	Read            format.Num `json:"read,omitzero"`  // queries
	Write           format.Num `json:"write,omitzero"` // queries
	Total           format.Num `json:"total,omitzero"`
	Queries         format.Num `json:"queries,omitzero"` // since 1.0
	Transactions    format.Num `json:"transactions,omitzero"`
	TransactionRate format.Num `json:"transaction_rate,omitzero"` // per second, as printed
	Errors          format.Num `json:"errors,omitzero"`           // ignored errors, since 0.5
}

// FileIO is the result of a fileio test, per second.
type FileIO struct {
	Reads      format.Num `json:"reads,omitzero"` // operations
	Writes     format.Num `json:"writes,omitzero"`
	Syncs      format.Num `json:"syncs,omitzero"`
	ReadBytes  format.Num `json:"read_bytes,omitzero"`
	WriteBytes format.Num `json:"write_bytes,omitzero"`
}

// Memory is the result of a memory test.
type Memory struct {
	Transfer format.Num `json:"transfer,omitzero"` // bytes per second
}

// General is the run as a whole.
type General struct {
	Time   format.Num `json:"time,omitzero"`   // seconds
	Events format.Num `json:"events,omitzero"` // finished
	// Rate is events per second; 1.1 and the cpu test print it.
	Rate format.Num `json:"rate,omitzero"`
}

// Latency of the whole run in seconds. A printed 0.00 is missing.
type Latency struct {
	Min        format.Num      `json:"min,omitzero"`
	Avg        format.Num      `json:"avg,omitzero"`
	Max        format.Num      `json:"max,omitzero"`
	Percentile format.Quantile `json:"percentile,omitzero"`
}
