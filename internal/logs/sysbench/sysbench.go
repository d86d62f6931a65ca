// Package sysbench knows sysbench: what it takes to start 1.0 and 1.1 (version,
// arguments, the file that keeps a password out of them, the Lua script that counts
// events in tare's shared memory), and what 0.4.12, 0.5, 1.0 and 1.1 print: report
// lines, the options at the top, the summary and the histogram. A file may hold several
// runs, or a few report lines copied from somewhere.
//
// It starts nothing and does not know what a figure is good for. Report lines go to
// the caller one by one, so memory does not grow with the log.
package sysbench

import (
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// Interval is one report line: rates over the time since the report before.
type Interval struct {
	Line int `json:"line"` // of the file, from 1
	Run  int `json:"run"`  // index in Log.Runs
	// Time is when the line was printed, in whole seconds since the run began.
	Time float64 `json:"time"`

	Threads format.Num `json:"threads,omitzero"`
	// Events per second: transactions (tps) of a database test, eps of others.
	Events format.Num `json:"events,omitzero"`
	// Queries per second, writes among them; 0.4 and 0.5 do not print Queries.
	Queries format.Num `json:"queries,omitzero"`
	Writes  format.Num `json:"writes,omitzero"`
	Errors  format.Num `json:"errors,omitzero"` // per second
	// Latency is the percentile that was asked for, in seconds. It is missing
	// where 0.00 is printed: nothing finished, or it is below the resolution.
	Latency format.Quantile `json:"latency,omitzero"`

	// Bytes per second of fileio, transfers of memory.
	ReadBytes  format.Num `json:"read_bytes,omitzero"`
	WriteBytes format.Num `json:"write_bytes,omitzero"`
	Transfer   format.Num `json:"transfer,omitzero"`

	queue bool // no report: what --rate prints on a line of its own
}

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one run of sysbench. What the log does not say is missing: a run made
// of bare report lines has nothing but Line, Intervals, First and Last.
type Run struct {
	Line    int    `json:"line"` // first line
	End     int    `json:"end"`  // last line
	Version string `json:"version,omitempty"`
	// Test is what kind of test it was, by what it printed: oltp (any database
	// script), fileio, memory, cpu, or empty.
	Test string `json:"test,omitempty"`

	// Settings of the test, as it prints them above its result.
	Settings []record.Setting `json:"settings,omitempty"`

	Threads format.Num `json:"threads,omitzero"`
	Rate    format.Num `json:"rate,omitzero"`   // wanted events per second
	Warmup  format.Num `json:"warmup,omitzero"` // seconds

	Intervals int     `json:"intervals"` // report lines
	First     float64 `json:"first"`     // seconds, Time of the first report line
	Last      float64 `json:"last"`      // seconds, Time of the last one
	// Checkpoints counts the full reports of --report-checkpoints. After one,
	// everything in the summary counts from the last of them.
	Checkpoints int `json:"checkpoints,omitempty"`

	SQL     *SQL     `json:"sql,omitempty"`
	FileIO  *FileIO  `json:"fileio,omitempty"`
	Memory  *Memory  `json:"memory,omitempty"`
	General *General `json:"general,omitempty"`
	Latency *Latency `json:"latency,omitempty"`
	// Histogram is what --histogram prints: about 1.8 % wide, each value in the
	// middle of its bar.
	Histogram []format.Bin `json:"histogram,omitempty"`
	// Failures are the lines that begin with FATAL or ALERT.
	Failures format.Failures `json:"failures,omitzero"`

	performed    [3]format.Num // reads, writes and syncs of fileio before 1.0
	summed, fair bool          // the last line of the latencies, of the fairness, was there
}

// Complete says whether the run printed its summary to the end. (fileio of 1.1
// prints nothing behind the latency.)
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
	// Rate is events per second where it is printed: 1.1, and the cpu test.
	Rate format.Num `json:"rate,omitzero"`
}

// Latency of the whole run in seconds. A 0.00 in the print is missing here.
type Latency struct {
	Min        format.Num      `json:"min,omitzero"`
	Avg        format.Num      `json:"avg,omitzero"`
	Max        format.Num      `json:"max,omitzero"`
	Percentile format.Quantile `json:"percentile,omitzero"`
}
