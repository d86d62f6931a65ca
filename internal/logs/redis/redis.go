// Package redis reads what redis-benchmark and valkey-benchmark print: reports with a distribution of
// latencies (6.2 and later) or a table of milliseconds (before), the lines of -q, --csv, and progress lines,
// which overwrite one another.
//
// It must not know what is compared.
package redis

import "github.com/tarelab/tare/internal/logs/format"

// content is the content of one input.
type content struct {
	Runs     []run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
	// Failures are the error lines after which the tool ends.
	Failures format.Failures `json:"failures,omitzero"`
}

// report is a progress line: figures since the one before, 250 ms ago.
type report struct {
	Line    int        `json:"line"`
	Run     int        `json:"run"`              // index in content.Runs
	Rate    format.Num `json:"rate,omitzero"`    // requests per second
	Latency format.Num `json:"latency,omitzero"` // mean in seconds; missing if no request finished
	Overall format.Num `json:"overall,omitzero"` // requests per second since the test began
}

// run is one test. Figures that the output does not have are missing: -q and --csv print no settings.
type run struct {
	Line int    `json:"line"`           // first line
	End  int    `json:"end"`            // last line
	Test string `json:"test,omitempty"` // its printed name: SET, LRANGE_100 (first 100 elements)

	Requests  format.Num `json:"requests,omitzero"`
	Seconds   format.Num `json:"seconds,omitzero"`
	Clients   format.Num `json:"clients,omitzero"`
	Payload   format.Num `json:"payload,omitzero"` // bytes
	KeepAlive format.Num `json:"keep_alive,omitzero"`
	Threads   format.Num `json:"threads,omitzero"` // of the tool, if it has several
	Nodes     format.Num `json:"nodes,omitzero"`   // of a cluster
	Target    format.Num `json:"target,omitzero"`  // requests per second asked for (Valkey 9)
	// The server's persistence: CONFIG GET save and appendonly.
	Save       string `json:"save,omitempty"`
	AppendOnly string `json:"append_only,omitempty"`

	Reports int        `json:"reports,omitempty"` // progress lines that count
	Rate    format.Num `json:"rate,omitzero"`     // requests per second
	Latency *latency   `json:"latency,omitempty"`
	// Distribution is the cumulative distribution of latencies, in order.
	Distribution []bound `json:"distribution,omitempty"`
	Complete     bool    `json:"complete"`
	// Coarse says that, as before 6.2, the bounds are whole milliseconds (or --precision of 6.0) and
	// the last one is a lower bound.
	Coarse bool `json:"coarse,omitempty"`

	ticks int // all progress lines
}

// latency of the whole test in seconds. --csv has all of it, -q the median.
type latency struct {
	Avg format.Num `json:"avg,omitzero"`
	Min format.Num `json:"min,omitzero"`
	P50 format.Num `json:"p50,omitzero"`
	P95 format.Num `json:"p95,omitzero"`
	P99 format.Num `json:"p99,omitzero"`
	Max format.Num `json:"max,omitzero"`
}

// bound is a line of the distribution: Share of the requests took at most Seconds.
type bound struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
	Count   float64 `json:"count,omitempty"` // since 6.2
}
