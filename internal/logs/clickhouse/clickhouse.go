// Package clickhouse reads what clickhouse-benchmark (also "clickhouse
// benchmark") 1.1 to 25 prints: the text of every era, with its reports per
// interval, and the JSON of the versions before 23.8.
//
// It must not know what is compared. Reports per interval go to the caller one
// by one and are not kept.
package clickhouse

import "github.com/tarelab/tare/internal/logs/format"

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one run of the tool.
type Run struct {
	Line int `json:"line"`
	// Era is what the text tells of the version: "1.1 to 18.x", "19.x",
	// "20 to 23.7", "23.8 or later"; for JSON "1.1", "1.1 to 18.x",
	// "19 to 22.4", "22.5 to 23.7".
	Era    string     `json:"era"`
	Loaded format.Num `json:"loaded,omitzero"` // different queries

	// Reports counts the reports before the last one. With Cumulative they are
	// totals since the beginning, otherwise of their interval only.
	Reports    int  `json:"reports"`
	Cumulative bool `json:"cumulative,omitempty"`
	// Total is the last report; nil if there is none. It is of the whole run if
	// Complete, otherwise of the last interval.
	Total    *Report `json:"total,omitempty"`
	Complete bool    `json:"complete"`
	// Failures are lines about queries that failed.
	Failures format.Failures `json:"failures,omitzero"`

	stopped bool // the tool said why it launches no more queries
	json    bool
}

// Report is one report over all servers.
type Report struct {
	Line int `json:"line"`
	Run  int `json:"run"` // index in Log.Runs
	// Executed is the number of queries since the beginning, failed ones
	// included, over all servers.
	Executed    format.Num `json:"executed,omitzero"`
	Concurrency format.Num `json:"concurrency,omitzero"` // with --max_concurrency
	Servers     []Server   `json:"servers"`

	own bool // rates are of the servers' own query times
}

// Server is one line of a report: one server, or all with --roundrobin.
type Server struct {
	// Queries that succeeded in the time of the report, since 19.
	Queries format.Num `json:"queries,omitzero"`
	Errors  format.Num `json:"errors,omitzero"` // printed only if there are some
	Time    format.Num `json:"time,omitzero"`   // seconds; JSON of 22.5 to 23.7
	// QPS is queries per second. In the text of 19 to 23.7 and in JSON since
	// 22.5 the tool computes it as concurrency over mean query time, not from
	// the clock; in JSON of 19 to 22.4 it is one over the mean query time.
	QPS format.Num `json:"qps,omitzero"`
	// Quantiles of the query time in seconds. Since 22.8 it is the server's
	// time unless --client-side-time was given; the output does not say.
	Quantiles []format.Quantile `json:"quantiles,omitempty"`
}

// whole says whether the report counts every query executed so far, and whether
// its lines print how many they count.
func (r *Report) whole() (yes, known bool) {
	executed, known := r.Executed.Get()
	n := 0.0
	for _, s := range r.Servers {
		answered, has := s.Queries.Get()
		failed, _ := s.Errors.Get()
		n, known = n+answered+failed, known && has
	}
	return n == executed, known && len(r.Servers) > 0
}
