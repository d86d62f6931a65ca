// Package clickhouse reads what clickhouse-benchmark (also "clickhouse benchmark") 1.1 to 25 prints: text with
// a report per interval, and JSON of the versions before 23.8.
//
// It must not know what is compared. The caller gets reports of intervals one by one, so memory does not grow
// with the log.
package clickhouse

import "github.com/tarelab/tare/internal/logs/format"

// content is the content of one input.
type content struct {
	Runs     []run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// run is one run of the tool.
type run struct {
	Line int `json:"line"`
	// Era is the span of versions that the output shows: "1.1 to 18.x", "19.x",
	// "20 to 23.7", "23.8 or later"; for JSON "1.1", "1.1 to 18.x",
	// "19 to 22.4", "22.5 to 23.7".
	Era    string     `json:"era"`
	Loaded format.Num `json:"loaded,omitzero"` // different queries

	// Reports counts the reports before the last. With Cumulative they count from the beginning,
	// otherwise over their interval.
	Reports    int  `json:"reports"`
	Cumulative bool `json:"cumulative,omitempty"`
	// Total is the last report; nil: none. It covers the whole run if Complete, otherwise the last
	// interval.
	Total    *report `json:"total,omitempty"`
	Complete bool    `json:"complete"`
	// Failures are lines about queries that failed.
	Failures format.Failures `json:"failures,omitzero"`

	stopped bool // the tool printed why it stops
	json    bool
}

// report is one report over all servers.
type report struct {
	Line int `json:"line"`
	Run  int `json:"run"` // index in content.Runs
	// Executed is the number of queries since the beginning on all servers, including failed ones.
	Executed    format.Num    `json:"executed,omitzero"`
	Concurrency format.Num    `json:"concurrency,omitzero"` // with --max_concurrency
	Servers     []serverTotal `json:"servers"`

	own bool // rates are computed from the servers' query times
}

// serverTotal is one line of a report: one server, or all servers with --roundrobin.
type serverTotal struct {
	// Queries that succeeded in the time of the report; printed since 19.
	Queries format.Num `json:"queries,omitzero"`
	Errors  format.Num `json:"errors,omitzero"` // printed only if there are some
	Time    format.Num `json:"time,omitzero"`   // seconds; JSON of 22.5 to 23.7
	// QPS is queries per second. The text of 19 to 23.7 and JSON since 22.5 have concurrency over
	// mean query time, not a rate by the clock. JSON of 19 to 22.4 has one over mean query time.
	QPS format.Num `json:"qps,omitzero"`
	// Quantiles of the query time in seconds. Since 22.8 this is the server's time, unless
	// --client-side-time was given, which the output does not show.
	Quantiles []format.Quantile `json:"quantiles,omitempty"`
}

// whole reports whether the report counts every query executed so far. known is false if its lines have no
// numbers of queries.
func (r *report) whole() (yes, known bool) {
	executed, known := r.Executed.Get()
	n := 0.0
	for _, s := range r.Servers {
		answered, has := s.Queries.Get()
		failed, _ := s.Errors.Get()
		n, known = n+answered+failed, known && has
	}
	return n == executed, known && len(r.Servers) > 0
}
