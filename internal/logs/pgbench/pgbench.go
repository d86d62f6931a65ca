// Package pgbench knows pgbench: what it takes to start 10 and later (version,
// arguments, how it logs transactions), and what 9.0 to 18 print: progress, the summary
// with scripts and statements, and the log of single transactions (-l).
//
// It starts nothing and does not know what is compared. Progress and log lines go to
// the caller one by one and are not kept.
package pgbench

import "github.com/tarelab/tare/internal/logs/format"

const milli = 1e3 // per second

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Progress is one line of -P: figures since the line before.
type Progress struct {
	Line int `json:"line"`
	Run  int `json:"run"` // index in Log.Runs
	// Time is seconds since the beginning, or with --progress-timestamp since
	// 1970. Length is the distance to the line before.
	Time   float64    `json:"time"`
	Length format.Num `json:"length,omitzero"`
	TPS    format.Num `json:"tps,omitzero"`
	// Latency is the mean in seconds; missing where no transaction finished, for
	// which pgbench prints 0.000 or nan.
	Latency format.Num `json:"latency,omitzero"`
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
	Duration  format.Num `json:"duration,omitzero"` // seconds asked for

	Intervals int `json:"intervals"` // progress lines

	Failed format.Num `json:"failed,omitzero"` // transactions, since 15
	Done   format.Num `json:"done,omitzero"`   // transactions actually processed
	// Latency is the mean in seconds. Without -P, --rate or --latency-limit,
	// pgbench computes it from clients and throughput.
	Latency format.Num `json:"latency,omitzero"`
	// TPS leaves the time for making connections out; TPSConnecting counts it
	// in: before 14 beside TPS, since then instead of it with --connect.
	TPS           format.Num `json:"tps,omitzero"`
	TPSConnecting format.Num `json:"tps_connecting,omitzero"`
	// Skipped and Above are parts of the transactions: never begun because they were
	// late, and above the latency limit, which is Limit seconds.
	Skipped format.Num `json:"skipped,omitzero"`
	Above   format.Num `json:"above,omitzero"`
	Limit   format.Num `json:"limit,omitzero"`
	// Limited says that there was a rate limit (--rate), Reconnects that every transaction had a
	// connection of its own (--connect), Initial that there were only those of the beginning (14).
	Limited    bool `json:"limited,omitempty"`
	Reconnects bool `json:"reconnects,omitempty"`
	Initial    bool `json:"initial,omitempty"`
	// Scripts are what is said of each, where there are several.
	Scripts []Script `json:"scripts,omitempty"`
	// Failures are error messages.
	Failures format.Failures `json:"failures,omitzero"`
}

// Script is one of several scripts.
type Script struct {
	Name    string     `json:"name"`
	TPS     format.Num `json:"tps,omitzero"`
	Latency format.Num `json:"latency,omitzero"` // mean in seconds
}

// Complete says whether the summary is there.
func (r *Run) Complete() bool { return r.TPS.Known() || r.TPSConnecting.Known() }
