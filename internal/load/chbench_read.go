package load

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tarelab/tare/internal/chbench"
	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/clickhouse"
	"github.com/tarelab/tare/record"
)

// chReport is what clickhouse-benchmark says at its end.
type chReport struct {
	era         string
	ops, errors uint64
	seconds     float64
	latency     record.Histogram
}

// chOutput keeps what it says, calls begun when it has read its queries and
// notes when that and the beginning of its last report were.
type chOutput struct {
	begun       func()
	text        bytes.Buffer
	loaded, end time.Time
}

var (
	chLoaded   = []byte("Loaded ")
	chExecuted = []byte("Queries executed: ")
)

// Write looks for the words, which may come in pieces.
func (o *chOutput) Write(b []byte) (int, error) {
	o.text.Write(b)
	if o.loaded.IsZero() && bytes.Contains(o.text.Bytes(), chLoaded) {
		o.loaded = time.Now()
		o.begun()
	}
	if o.end.IsZero() && bytes.Contains(o.text.Bytes(), chExecuted) {
		o.end = time.Now()
	}
	return len(b), nil
}

// between is the time in seconds from one to the other; 0: not known.
func (o *chOutput) between() float64 {
	if o.loaded.IsZero() || o.end.IsZero() {
		return 0
	}
	return o.end.Sub(o.loaded).Seconds()
}

// readClickHouseBenchmark reads the report of one run, which took about so many
// seconds: its text, and its JSON where it wrote some, for finer latencies.
func readClickHouseBenchmark(text, json []byte, seconds float64) (report chReport, err error) {
	log, err := clickhouse.Parse(bytes.NewReader(text), nil)
	if err != nil {
		return report, fmt.Errorf("read the report of %s: %w", chbench.Program, err)
	}
	if len(log.Runs) != 1 || log.Runs[0].Total == nil || len(log.Runs[0].Total.Servers) != 1 {
		return report, fmt.Errorf("%s did not write one report of one server", chbench.Program)
	}
	run := &log.Runs[0]
	if !run.Complete {
		return report, fmt.Errorf("the report of %s is not of the whole run", chbench.Program)
	}
	server := run.Total.Servers[0]
	report.era = run.Era
	if err := report.count(run, server); err != nil {
		return report, err
	}
	report.seconds = clocked(run.Era, server, float64(report.ops), seconds)
	if report.seconds <= 0 || math.IsInf(report.seconds, 0) {
		return report, fmt.Errorf("%s does not say how long it took", chbench.Program)
	}
	quantiles := server.Quantiles
	if len(json) > 0 {
		fine, err := clickhouse.Parse(bytes.NewReader(json), nil)
		if err != nil {
			return report, fmt.Errorf("read the JSON of %s: %w", chbench.Program, err)
		}
		if r := fine.Runs[0].Total; len(r.Servers) == 1 && len(r.Servers[0].Quantiles) > 0 {
			quantiles = r.Servers[0].Quantiles
		}
	}
	report.latency = fromQuantiles(quantiles, report.ops)
	return report, nil
}

// count reads how many queries succeeded and failed. Before version 19 there
// is only the number of all, and a failure ends the tool.
func (r *chReport) count(run *clickhouse.Run, server clickhouse.Server) error {
	executed, ok := run.Total.Executed.Get()
	if answered, has := server.Queries.Get(); has {
		executed, ok = answered, true
	}
	if !ok {
		return fmt.Errorf("%s does not say how many queries there were", chbench.Program)
	}
	failed, _ := server.Errors.Get()
	r.ops, r.errors = uint64(executed), uint64(failed)
	if r.ops == 0 {
		return errors.New("no query was answered")
	}
	return nil
}

// clocked is how long a run took, in seconds. Versions from 19 to 23.7 compute
// their rate from the query times, so the time is that between their first and
// their last words; the others have it from their clock.
func clocked(era string, s clickhouse.Server, ops, between float64) float64 {
	if era == "19.x" || era == "20 to 23.7" {
		return between
	}
	rate, ok := s.QPS.Get()
	if !ok || rate <= 0 {
		return between
	}
	return ops / rate
}

// fromQuantiles makes a histogram of so many operations from quantiles: as many
// between two of them as there were, evenly.
func fromQuantiles(quantiles []format.Quantile, ops uint64) record.Histogram {
	buckets := map[uint32]uint64{}
	for i, done := 0, uint64(0); i < len(quantiles); i++ {
		high, ok := quantiles[i].Seconds.Get()
		if !ok {
			continue
		}
		upTo := uint64(math.Round(quantiles[i].Q * float64(ops)))
		if i == len(quantiles)-1 {
			upTo = ops // nobody knows how far the rest lies above
		}
		low := high
		if i > 0 {
			if below, ok := quantiles[i-1].Seconds.Get(); ok {
				low = below
			}
		}
		stretch(buckets, low, high, upTo-min(done, upTo))
		done = max(done, upTo)
	}
	return histogram(buckets)
}

// stretch puts n operations between two latencies, in at most a hundred steps.
func stretch(buckets map[uint32]uint64, low, high float64, n uint64) {
	steps := min(n, 100)
	for i := range steps {
		share := n*(i+1)/steps - n*i/steps
		at := low + (high-low)*(float64(i)+0.5)/float64(steps)
		buckets[uint32(record.Bucket(int64(at*1e9)))] += share
	}
}
