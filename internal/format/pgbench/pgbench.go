// Package pgbench reads what pgbench 9.0 to 18 prints: progress, the summary
// with scripts and statements, the log of single transactions (-l) and the
// aggregated log.
//
// It must not know what is compared. Progress and log lines go to the caller
// one by one and are not kept.
package pgbench

import "github.com/tarelab/tare/internal/format"

const (
	milli = 1e3 // per second
	micro = 1e6
)

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Progress is one line of -P: figures since the line before.
type Progress struct {
	Line int `json:"line"`
	Run  int `json:"run"` // index in Log.Runs
	// Time is seconds since the beginning, or with Clock (--progress-timestamp)
	// since 1970. Length is the distance to the line before.
	Time   float64    `json:"time"`
	Clock  bool       `json:"clock,omitempty"`
	Length format.Num `json:"length,omitzero"`
	TPS    format.Num `json:"tps,omitzero"`
	// Mean and deviation of the latency in seconds; missing where no
	// transaction finished, for which pgbench prints 0.000 or nan.
	Latency format.Num `json:"latency,omitzero"`
	StdDev  format.Num `json:"stddev,omitzero"`
	Failed  format.Num `json:"failed,omitzero"`  // since 15
	Lag     format.Num `json:"lag,omitzero"`     // seconds behind the schedule, with --rate
	Skipped format.Num `json:"skipped,omitzero"` // with --rate and --latency-limit
	Retried format.Num `json:"retried,omitzero"` // transactions, with --max-tries
	Retries format.Num `json:"retries,omitzero"`
}

// Run is one run of pgbench.
type Run struct {
	Line    int    `json:"line"`
	End     int    `json:"end"`
	Version string `json:"version,omitempty"` // since 13
	Server  string `json:"server,omitempty"`  // version, where it is another one

	Type      string     `json:"type,omitempty"` // transaction type or script
	Scale     format.Num `json:"scale,omitzero"`
	QueryMode string     `json:"query_mode,omitempty"`
	Clients   format.Num `json:"clients,omitzero"`
	Threads   format.Num `json:"threads,omitzero"`
	MaxTries  format.Num `json:"max_tries,omitzero"`
	PerClient format.Num `json:"per_client,omitzero"` // transactions asked for
	Duration  format.Num `json:"duration,omitzero"`   // seconds asked for

	Intervals int `json:"intervals"` // progress lines

	Processed     format.Num `json:"processed,omitzero"` // transactions that succeeded
	Wanted        format.Num `json:"wanted,omitzero"`    // with -t
	Failed        format.Num `json:"failed,omitzero"`    // since 15
	Serialization format.Num `json:"serialization,omitzero"`
	Deadlocks     format.Num `json:"deadlocks,omitzero"`
	Retried       format.Num `json:"retried,omitzero"`
	Retries       format.Num `json:"retries,omitzero"`
	Skipped       format.Num `json:"skipped,omitzero"`
	Limit         format.Num `json:"limit,omitzero"` // latency limit in seconds
	AboveLimit    format.Num `json:"above_limit,omitzero"`

	// Mean latency and its deviation in seconds. Without -P, --rate or
	// --latency-limit, pgbench computes the mean from clients and throughput
	// (Derived) and has no deviation.
	Latency format.Num `json:"latency,omitzero"`
	StdDev  format.Num `json:"stddev,omitzero"`
	Derived bool       `json:"derived,omitempty"`
	LagMean format.Num `json:"lag_mean,omitzero"` // seconds
	LagMax  format.Num `json:"lag_max,omitzero"`  // seconds

	// TPS leaves the time for making connections out; TPSConnecting counts it
	// in: before 14 beside TPS, since then instead of it with --connect.
	TPS           format.Num `json:"tps,omitzero"`
	TPSConnecting format.Num `json:"tps_connecting,omitzero"`
	// Connect is the time for the first connections, or with --connect the mean
	// time for one, in seconds. Since 14.
	Connect format.Num `json:"connect,omitzero"`

	Scripts    []Script    `json:"scripts,omitempty"`    // with several scripts
	Statements []Statement `json:"statements,omitempty"` // with -r
	// Aborted says that pgbench called its own results incomplete.
	Aborted bool `json:"aborted,omitempty"`
	// Failures are error messages: the first 20 and how many there are.
	Failures     []format.Warning `json:"failures,omitempty"`
	FailureCount int              `json:"failure_count,omitempty"`
}

// Complete says whether the summary is there.
func (r *Run) Complete() bool { return r.TPS.Known() || r.TPSConnecting.Known() }

// Script is one script of a mix.
type Script struct {
	Name         string     `json:"name"`
	Weight       format.Num `json:"weight,omitzero"`
	Transactions format.Num `json:"transactions,omitzero"`
	TPS          format.Num `json:"tps,omitzero"`
	Failed       format.Num `json:"failed,omitzero"`
	Latency      format.Num `json:"latency,omitzero"` // mean, seconds
	StdDev       format.Num `json:"stddev,omitzero"`  // seconds
}

// Statement is one line of a script with its mean latency.
type Statement struct {
	Script   int        `json:"script"`           // from 0
	Latency  format.Num `json:"latency,omitzero"` // seconds
	Failures format.Num `json:"failures,omitzero"`
	Retries  format.Num `json:"retries,omitzero"`
	Text     string     `json:"text"`
}
