package importer

import (
	"io"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/clickhouse"
)

func readClickHouse(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	var runs []*run
	reach := func(i int) *run {
		for len(runs) <= i {
			runs = append(runs, &run{})
		}
		return runs[i]
	}
	log, err := clickhouse.Parse(text, func(r clickhouse.Report) error {
		reach(r.Run).figure("throughput").add(queryRate(&r))
		return nil
	})
	warnings := log.Warnings
	for i := range log.Runs {
		warnings = append(warnings, reach(i).clickhouse(&log.Runs[i])...)
	}
	return runs, warnings, err
}

// queryRate is the queries per second over all servers.
func queryRate(r *clickhouse.Report) format.Num {
	total := 0.0
	for _, s := range r.Servers {
		x, ok := s.QPS.Get()
		if !ok {
			return format.Num{}
		}
		total += x
	}
	if len(r.Servers) == 0 {
		return format.Num{}
	}
	return format.Some(total)
}

func (r *run) clickhouse(one *clickhouse.Run) []format.Warning {
	r.Tool, r.Line, r.Complete = "clickhouse-benchmark", one.Line, one.Complete && one.Total != nil
	r.load("queries", text(one.Loaded))
	r.other("output of version", one.Era)
	if one.Cumulative {
		r.figures = nil // every report counts what the one before counted
	}
	warnings := failures(one.Failures, one.FailureCount)
	r.Errors = uint64(one.FailureCount)
	if one.Total == nil {
		return warnings
	}
	if !r.Complete {
		r.figure("throughput").add(queryRate(one.Total))
		return warnings
	}
	r.load("concurrency", text(one.Total.Concurrency))
	r.total("throughput", queryRate(one.Total).Positive())
	if len(one.Total.Servers) == 1 {
		s := one.Total.Servers[0]
		r.quantiles(s.Quantiles)
		if x, ok := s.Time.Get(); ok {
			r.Seconds = x
		}
	}
	return warnings
}
