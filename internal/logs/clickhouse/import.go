package clickhouse

import (
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Import reads the runs of a log.
func Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var runs observed.Runs
	log, err := Parse(text, func(r Report) error {
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

// servers are the loads of single servers, where there are several: percentiles do
// not add up.
func servers(one *Run) (out []*observed.Run) {
	if one.Total == nil || !one.Complete || len(one.Total.Servers) < 2 {
		return nil
	}
	for i, s := range one.Total.Servers {
		r := &observed.Run{Sub: fmt.Sprintf("server %d", i+1)}
		r.Tool, r.Line, r.Complete = tool, one.Line, true
		r.MakesLoad("output of version", one.Era)
		r.Total(metric.Throughput, s.QPS.NonZero())
		r.Quantiles(s.Quantiles)
		out = append(out, r)
	}
	return out
}

// queryRate is the queries per second over all servers. Where a server's rate is its
// queries over its own query times (Benchmark.cpp before 23.8), and each query goes to one
// server, it is all queries over all of these times; else rates add up.
func queryRate(r *Report) format.Num {
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

// ownTimes says that the rates are computed from query times.
func (r *Run) ownTimes() bool { return r.Era == "19.x" || r.Era == "20 to 23.7" }

func imported(r *observed.Run, one *Run) []format.Warning {
	r.Tool, r.Line, r.Complete = tool, one.Line, one.Complete && one.Total != nil
	r.MakesLoad("queries", observed.Text(one.Loaded))
	r.MakesLoad("output of version", one.Era)
	if one.Cumulative {
		r.Forget() // every report counts what the one before counted
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
