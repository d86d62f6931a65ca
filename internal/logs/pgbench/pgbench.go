// Package pgbench knows how pgbench 10 and later is run: versions, arguments, logs of transactions. It reads
// what 9.0 to 18 print: progress lines, the summary with scripts and statements, and the log of single
// transactions (-l).
//
// It starts nothing and does not know what is compared. The caller gets progress and log lines one by one, so
// memory does not grow with the log.
package pgbench

import "github.com/tarelab/tare/internal/logs/format"

const milli = 1e3 // per second

// content is the content of one input.
type content struct {
	Runs     []run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// progress is one line of -P: figures since the line before.
type progress struct {
	Line int `json:"line"`
	Run  int `json:"run"` // index in content.Runs
	// Time is seconds since the beginning, or since 1970 with --progress-timestamp. Length is the
	// seconds since the line before.
	Time   float64    `json:"time"`
	Length format.Num `json:"length,omitzero"`
	TPS    format.Num `json:"tps,omitzero"`
	// Latency is the mean in seconds; missing if no transaction finished (printed as 0.000 or nan).
	Latency format.Num `json:"latency,omitzero"`
}

// run is one run of pgbench.
type run struct {
	Line    int    `json:"line"`
	End     int    `json:"end"`
	Version string `json:"version,omitempty"` // since 13
	Server  string `json:"server,omitempty"`  // version, if it differs

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
	// TPS leaves out the time for connections, TPSConnecting includes it. Before 14 pgbench prints
	// both; since then TPSConnecting only with --connect, in place of TPS.
	TPS           format.Num `json:"tps,omitzero"`
	TPSConnecting format.Num `json:"tps_connecting,omitzero"`
	// Skipped is the share of transactions that were never begun because they were late, Above the
	// share above the latency limit of Limit seconds.
	Skipped format.Num `json:"skipped,omitzero"`
	Above   format.Num `json:"above,omitzero"`
	Limit   format.Num `json:"limit,omitzero"`
	// Limited says that there was a rate limit (--rate), Reconnects that every transaction had its
	// own connection (--connect), Initial that all connections were made at the beginning (14).
	Limited    bool `json:"limited,omitempty"`
	Reconnects bool `json:"reconnects,omitempty"`
	Initial    bool `json:"initial,omitempty"`
	// Scripts has the figures of each script, if there are several.
	Scripts []script `json:"scripts,omitempty"`
	// Failures are error messages.
	Failures format.Failures `json:"failures,omitzero"`
}

// script is one of several scripts.
type script struct {
	Name    string     `json:"name"`
	TPS     format.Num `json:"tps,omitzero"`
	Latency format.Num `json:"latency,omitzero"` // mean in seconds
}

// Complete reports whether the log has the summary.
func (r *run) Complete() bool { return r.TPS.Known() || r.TPSConnecting.Known() }
