package clickhouse

import (
	"io"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// importFile reads the runs in clickhouse-benchmark's output.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var runs observed.Runs
	log, err := parse(text, func(r report) error {
		runs.At(r.Run).Figure(metric.Throughput).Add(queryRate(&r))
		return nil
	})
	warnings := log.Warnings
	for i := range log.Runs {
		warnings = append(warnings, imported(runs.At(i), &log.Runs[i])...)
	}
	out := []*observed.Run(runs)
	for i := range log.Runs {
		out = append(out, servers(&log.Runs[i])...)
	}
	return out, warnings, err
}

// servers makes a load of each server, if there are several: their percentiles cannot be combined.
func servers(one *run) (out []*observed.Run) {
	if one.Total == nil || !one.Complete || len(one.Total.Servers) < 2 {
		return nil
	}
	for i, s := range one.Total.Servers {
		r := &observed.Run{Sub: serverLoad(i)}
		r.Tool, r.Line, r.Complete = tool, one.Line, true
		r.MakesLoad(outputOf, one.Era)
		r.Total(metric.Throughput, s.QPS.NonZero())
		r.Quantiles(s.Quantiles)
		out = append(out, r)
	}
	return out
}

// queryRate returns the queries per second on all servers. If a server's rate is its queries over its query
// times (Benchmark.cpp before 23.8; each query goes to one server), it is all queries over the sum of these
// times. Otherwise it is the sum of the rates.
func queryRate(r *report) format.Num {
	own := r.own
	total, queries, seconds := 0.0, 0.0, 0.0
	for _, s := range r.Servers {
		x, ok := s.QPS.Get()
		if !ok {
			return format.Num{}
		}
		total += x
		n, counted := s.Queries.Get()
		if own = own && counted && x > 0; own {
			queries, seconds = queries+n, seconds+n/x
		}
	}
	switch {
	case len(r.Servers) == 0:
		return format.Num{}
	case own && seconds > 0 && len(r.Servers) > 1:
		return format.Some(queries / seconds)
	}
	return format.Some(total)
}

// ownTimes reports that rates are computed from query times.
func (r *run) ownTimes() bool { return r.Era == "19.x" || r.Era == "20 to 23.7" }

// imported adds settings and figures of a run.
func imported(r *observed.Run, one *run) []format.Warning {
	r.Tool, r.Line, r.Complete = tool, one.Line, one.Complete && one.Total != nil
	r.MakesLoad("queries", observed.Text(one.Loaded))
	r.MakesLoad(outputOf, one.Era)
	if one.Cumulative {
		r.Forget() // every report includes the one before
	}
	warnings := observed.Failures(one.Failures)
	r.Errors = uint64(one.Failures.Count)
	if one.Total == nil {
		return warnings
	}
	if !r.Complete {
		r.Figure(metric.Throughput).Add(queryRate(one.Total))
		return warnings
	}
	r.MakesLoad("concurrency", observed.Text(one.Total.Concurrency))
	r.Total(metric.Throughput, queryRate(one.Total).NonZero())
	if len(one.Total.Servers) == 1 {
		s := one.Total.Servers[0]
		r.Quantiles(s.Quantiles)
		if x, ok := s.Time.Get(); ok {
			r.Seconds = x
		}
	}
	return warnings
}
