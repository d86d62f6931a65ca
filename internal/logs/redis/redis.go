// Package redis reads what redis-benchmark and valkey-benchmark print: the report
// with the distribution of latencies (6.2 and later) or with the table of
// milliseconds (before), the lines of -q, --csv, and the progress that both write
// over and over on one line.
//
// It must not know what a test is good for.
package redis

import "github.com/tarelab/tare/internal/logs/format"

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
	// Failures are the lines with which the tool says that it could not go on.
	Failures format.Failures `json:"failures,omitzero"`
}

// Report is a progress line: what happened since the one before, 250 ms ago.
type Report struct {
	Line    int        `json:"line"`
	Run     int        `json:"run"`              // index in Log.Runs
	Rate    format.Num `json:"rate,omitzero"`    // requests per second
	Latency format.Num `json:"latency,omitzero"` // mean in seconds; missing where nothing finished
	Overall format.Num `json:"overall,omitzero"` // requests per second since the test began
}

// Run is one test. What the output does not say is missing: -q and --csv say
// nothing of the settings.
type Run struct {
	Line int    `json:"line"`           // first line
	End  int    `json:"end"`            // last line
	Test string `json:"test,omitempty"` // as it calls itself: SET, LRANGE_100 (first 100 elements)

	Requests  format.Num `json:"requests,omitzero"`
	Seconds   format.Num `json:"seconds,omitzero"`
	Clients   format.Num `json:"clients,omitzero"`
	Payload   format.Num `json:"payload,omitzero"` // bytes
	KeepAlive format.Num `json:"keep_alive,omitzero"`
	Threads   format.Num `json:"threads,omitzero"` // of the tool, where it has several
	Nodes     format.Num `json:"nodes,omitzero"`   // of a cluster
	Target    format.Num `json:"target,omitzero"`  // requests per second that were wanted (Valkey 9)
	// What the server says of its persistence: CONFIG GET save and appendonly.
	Save       string `json:"save,omitempty"`
	AppendOnly string `json:"append_only,omitempty"`

	Reports int        `json:"reports,omitempty"` // progress lines that count
	Rate    format.Num `json:"rate,omitzero"`     // requests per second
	Latency *Latency   `json:"latency,omitempty"`
	// Distribution is how many requests took at most so long, in order.
	Distribution []Bound `json:"distribution,omitempty"`
	Complete     bool    `json:"complete"`
	// Coarse says that the bounds are whole milliseconds (or what --precision of 6.0
	// asked for) and the last one is a lower bound, as before 6.2.
	Coarse bool `json:"coarse,omitempty"`

	ticks int // progress lines, with those that do not count
}

// Latency of the whole test in seconds. --csv has all of it, -q the median.
type Latency struct {
	Avg format.Num `json:"avg,omitzero"`
	Min format.Num `json:"min,omitzero"`
	P50 format.Num `json:"p50,omitzero"`
	P95 format.Num `json:"p95,omitzero"`
	P99 format.Num `json:"p99,omitzero"`
	Max format.Num `json:"max,omitzero"`
}

// Bound is a line of the distribution: this share of the requests took at most
// Seconds.
type Bound struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
	Count   float64 `json:"count,omitempty"` // since 6.2
}
