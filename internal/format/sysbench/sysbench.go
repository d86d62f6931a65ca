// Package sysbench reads what sysbench 0.4.12, 0.5, 1.0 and 1.1 print: report
// lines, the options at the top, the summary, the histogram, and what the
// hooks report_csv and report_json of 1.0.14 and later write instead. A file
// may hold several runs, or a few report lines copied from somewhere.
//
// It must not know what a figure is good for. Report lines go to the caller
// one by one, so memory does not grow with the log.
package sysbench

import (
	"github.com/tarelab/tare/internal/format"
)

// Interval is one report line: rates over the time since the report before.
type Interval struct {
	Line int `json:"line"` // of the file, from 1
	Run  int `json:"run"`  // index in Log.Runs
	// Time is when the line was printed, in seconds since the run began, as a
	// whole number; Length is the distance to the line before, missing at the
	// first line of a run whose beginning is not in the log.
	Time   float64    `json:"time"`
	Length format.Num `json:"length,omitzero"`

	Threads format.Num `json:"threads,omitzero"`
	// Events per second: transactions (tps) of a database test, eps of others.
	Events format.Num `json:"events,omitzero"`
	// Queries per second; Reads, Writes and Other add up to it. In 0.4 and 0.5,
	// Other is not printed and Queries is missing.
	Queries format.Num `json:"queries,omitzero"`
	Reads   format.Num `json:"reads,omitzero"`
	Writes  format.Num `json:"writes,omitzero"`
	Other   format.Num `json:"other,omitzero"`
	// Latency is the percentile that was asked for, in seconds. It is missing
	// where 0.00 is printed: nothing finished, or it is below the resolution.
	Latency format.Quantile `json:"latency,omitzero"`
	// Latency2 is the second percentile that some builds of 0.4.12 print.
	Latency2   format.Quantile `json:"latency2,omitzero"`
	Errors     format.Num      `json:"errors,omitzero"`     // per second
	Reconnects format.Num      `json:"reconnects,omitzero"` // per second

	// Queue and Concurrency are printed with --rate: transactions that wait and
	// transactions under way at this moment.
	Queue       format.Num `json:"queue,omitzero"`
	Concurrency format.Num `json:"concurrency,omitzero"`

	// Bytes per second of fileio, transfers of memory; Syncs is fsyncs per second.
	ReadBytes  format.Num `json:"read_bytes,omitzero"`
	WriteBytes format.Num `json:"write_bytes,omitzero"`
	Syncs      format.Num `json:"syncs,omitzero"`
	Transfer   format.Num `json:"transfer,omitzero"`
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

	Threads        format.Num `json:"threads,omitzero"`
	Rate           format.Num `json:"rate,omitzero"`            // wanted events per second
	ReportInterval format.Num `json:"report_interval,omitzero"` // seconds
	Warmup         format.Num `json:"warmup,omitzero"`          // seconds
	// Options are the lines above the first report that say how it was run, as
	// they are, without those that became a field.
	Options []string `json:"options,omitempty"`

	Intervals int     `json:"intervals"` // report lines
	First     float64 `json:"first"`     // seconds, Time of the first report line
	Last      float64 `json:"last"`      // seconds, Time of the last one
	// Checkpoints counts the full reports of --report-checkpoints. After one,
	// everything but Total in the summary counts from the last of them.
	Checkpoints int `json:"checkpoints,omitempty"`

	SQL      *SQL      `json:"sql,omitempty"`
	FileIO   *FileIO   `json:"fileio,omitempty"`
	Memory   *Memory   `json:"memory,omitempty"`
	General  *General  `json:"general,omitempty"`
	Latency  *Latency  `json:"latency,omitempty"`
	Fairness *Fairness `json:"fairness,omitempty"`
	// Histogram is what --histogram prints: about 1.8 % wide, each value in the
	// middle of its bar.
	Histogram []format.Bin `json:"histogram,omitempty"`
	// Unfinished is the number of transactions under way when the run was cut
	// off with --forced-shutdown.
	Unfinished format.Num `json:"unfinished,omitzero"`
	// Failures are the lines that begin with FATAL or ALERT: the first 20 and
	// how many there are.
	Failures     []format.Warning `json:"failures,omitempty"`
	FailureCount int              `json:"failure_count,omitempty"`
}

// Complete says whether the run printed its summary to the end. (fileio of 1.1
// prints nothing behind the latency.)
func (r *Run) Complete() bool {
	return r.Fairness != nil && r.Fairness.TimeMean.Known() ||
		r.FileIO != nil && r.General == nil && r.Latency != nil && r.Latency.Sum.Known()
}

// Count is a number of things and its rate per second as printed.
type Count struct {
	Total format.Num `json:"total,omitzero"`
	Rate  format.Num `json:"rate,omitzero"`
}

// SQL is the statistics of a database test.
type SQL struct {
	Read         format.Num `json:"read,omitzero"` // queries
	Write        format.Num `json:"write,omitzero"`
	Other        format.Num `json:"other,omitzero"`
	Total        format.Num `json:"total,omitzero"`
	Transactions Count      `json:"transactions,omitzero"`
	Queries      Count      `json:"queries,omitzero"`    // since 1.0
	ReadWrite    Count      `json:"read_write,omitzero"` // requests, 0.4 and 0.5
	OtherOps     Count      `json:"other_ops,omitzero"`  // 0.4 and 0.5
	Deadlocks    Count      `json:"deadlocks,omitzero"`  // 0.4
	Errors       Count      `json:"errors,omitzero"`     // ignored errors, since 0.5
	Reconnects   Count      `json:"reconnects,omitzero"`
}

// FileIO is the result of a fileio test, per second.
type FileIO struct {
	Reads      format.Num `json:"reads,omitzero"`
	Writes     format.Num `json:"writes,omitzero"`
	Syncs      format.Num `json:"syncs,omitzero"`
	Requests   format.Num `json:"requests,omitzero"` // 0.4 and 0.5
	ReadBytes  format.Num `json:"read_bytes,omitzero"`
	WriteBytes format.Num `json:"write_bytes,omitzero"`
	Bytes      format.Num `json:"bytes,omitzero"` // both, 0.4 and 0.5
}

// Memory is the result of a memory test.
type Memory struct {
	Operations Count      `json:"operations,omitzero"`
	Bytes      format.Num `json:"bytes,omitzero"`
	Transfer   format.Num `json:"transfer,omitzero"` // bytes per second
}

// General is the run as a whole.
type General struct {
	Time   format.Num `json:"time,omitzero"`   // seconds
	Events format.Num `json:"events,omitzero"` // finished
	// Rate is events per second where it is printed: 1.1, and the cpu test.
	Rate format.Num `json:"rate,omitzero"`
	// Busy is the time inside events, summed over threads; 0.4 and 0.5.
	Busy format.Num `json:"busy,omitzero"`
}

// Latency of the whole run in seconds. A 0.00 in the print is missing here.
type Latency struct {
	Min        format.Num      `json:"min,omitzero"`
	Avg        format.Num      `json:"avg,omitzero"`
	Max        format.Num      `json:"max,omitzero"`
	Percentile format.Quantile `json:"percentile,omitzero"`
	Sum        format.Num      `json:"sum,omitzero"` // since 1.0
}

// Fairness is how alike the threads were: mean and standard deviation.
type Fairness struct {
	EventsMean format.Num `json:"events_mean,omitzero"`
	EventsDev  format.Num `json:"events_dev,omitzero"`
	TimeMean   format.Num `json:"time_mean,omitzero"` // seconds
	TimeDev    format.Num `json:"time_dev,omitzero"`  // seconds
}
