// Package clickhouse reads what clickhouse-benchmark (also "clickhouse
// benchmark") 1.1 to 25 prints: the text of every era, with its reports per
// interval, and the JSON of the versions before 23.8.
//
// It must not know what is compared. Reports per interval go to the caller one
// by one and are not kept.
package clickhouse

import "github.com/tarelab/tare/internal/format"

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one run of the tool.
type Run struct {
	Line int    `json:"line"`
	Form string `json:"form"` // text or json
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
	// Complete, otherwise of the last interval. Unsure: Complete, but in this era
	// the text does not prove it.
	Total    *Report `json:"total,omitempty"`
	Complete bool    `json:"complete"`
	Unsure   bool    `json:"unsure,omitempty"`
	// Stopped is why the run launched no more queries: "time limit",
	// "interrupted" or empty.
	Stopped string `json:"stopped,omitempty"`
	// Failures are lines about queries that failed: the first 20 and the number.
	Failures     []format.Warning `json:"failures,omitempty"`
	FailureCount int              `json:"failure_count,omitempty"`
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
}

// Server is one line of a report: one server, or all with --roundrobin.
type Server struct {
	Name string `json:"name,omitempty"` // localhost:9000, connection 1; empty before 19
	// Queries that succeeded in the time of the report, since 19.
	Queries format.Num `json:"queries,omitzero"`
	Errors  format.Num `json:"errors,omitzero"` // printed only if there are some
	Time    format.Num `json:"time,omitzero"`   // seconds; JSON of 22.5 to 23.7
	// QPS is queries per second. In the text of 19 to 23.7 and in JSON since
	// 22.5 the tool computes it as concurrency over mean query time, not from
	// the clock. PerConnection says that it is one over the mean query time, as
	// in JSON of 19 to 22.4: the concurrency is missing in it, and in the four
	// rates below.
	QPS           format.Num `json:"qps,omitzero"`
	PerConnection bool       `json:"per_connection,omitempty"`
	Rows          format.Num `json:"rows,omitzero"`         // read, per second
	Bytes         format.Num `json:"bytes,omitzero"`        // read, per second
	ResultRows    format.Num `json:"result_rows,omitzero"`  // per second
	ResultBytes   format.Num `json:"result_bytes,omitzero"` // per second
	// Quantiles of the query time in seconds. Since 22.8 it is the server's
	// time unless --client-side-time was given; the output does not say.
	Quantiles []format.Quantile `json:"quantiles,omitempty"`
}

// ok is the number of queries that the report's servers answered, if printed.
func (r *Report) ok() (answered, failed float64, known bool) {
	known = len(r.Servers) > 0
	for _, s := range r.Servers {
		n, has := s.Queries.Get()
		e, _ := s.Errors.Get()
		answered, failed, known = answered+n, failed+e, known && has
	}
	return answered, failed, known
}

// whole says whether the report counts every query executed so far.
func (r *Report) whole() (yes, known bool) {
	n, failed, has := r.ok()
	executed, printed := r.Executed.Get()
	return n+failed == executed, has && printed
}
