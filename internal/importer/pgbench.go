package importer

import (
	"io"
	"math"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/pgbench"
	"github.com/tarelab/tare/record"
)

func readPgBench(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	var runs []*run
	reach := func(i int) *run {
		for len(runs) <= i {
			runs = append(runs, &run{})
		}
		return runs[i]
	}
	log, err := pgbench.Parse(text, func(p pgbench.Progress) error {
		r := reach(p.Run)
		r.figure("throughput").add(p.TPS)
		r.figure("latency_mean").add(p.Latency)
		if x, ok := p.Length.Get(); ok {
			r.Seconds += x
		}
		return nil
	})
	warnings := log.Warnings
	for i := range log.Runs {
		reach(i).pgbench(&log.Runs[i])
		warnings = append(warnings, failures(log.Runs[i].Failures, log.Runs[i].FailureCount)...)
	}
	return runs, warnings, err
}

func (r *run) pgbench(one *pgbench.Run) {
	r.Tool, r.Version, r.Line, r.Complete = "pgbench", one.Version, one.Line, one.Complete()
	if one.Intervals > 0 {
		r.every = r.Seconds / float64(one.Intervals)
	}
	r.load("script", one.Type)
	r.load("scale", text(one.Scale))
	r.load("clients", text(one.Clients))
	r.load("query mode", one.QueryMode)
	r.other("threads", text(one.Threads))
	r.other("version", one.Version)
	r.other("server", one.Server)
	if x, ok := one.Duration.Get(); ok {
		r.Seconds = x
	}
	if x, ok := one.Failed.Get(); ok {
		r.Errors = uint64(x)
	}
	r.total("throughput", one.TPSConnecting.Positive())
	r.total("throughput", one.TPS.Positive())
	r.total("latency_mean", one.Latency.Positive())
}

// perSecond makes a series of whole seconds out of transactions that come about
// in order of time. The first second and the last are cut off somewhere and do
// not count.
type perSecond struct {
	rate, latency *figure
	second        float64 // that is being filled
	begun         bool
	first         bool // second is the first one
	count         float64
	spent         float64
	late          int // transactions of a second that was closed already
}

// take counts a transaction that ended at this time (seconds).
func (p *perSecond) take(at, latency float64) {
	s := math.Floor(at)
	switch {
	case !p.begun:
		p.second, p.begun, p.first = s, true, true
	case s < p.second:
		p.late++
		s = p.second
	case s-p.second > 86400: // a damaged time: no day of empty seconds
		p.second, p.count, p.spent, p.first = s, 0, 0, true
	}
	for p.second < s {
		p.close()
	}
	p.count++
	p.spent += latency
}

func (p *perSecond) close() {
	if !p.first {
		p.rate.put(p.count)
		if p.count > 0 {
			p.latency.put(p.spent / p.count)
		}
	}
	p.second, p.count, p.spent, p.first = p.second+1, 0, 0, false
}

// readPgBenchLog reads the log of single transactions: a series of seconds, and
// the latencies of all of them.
func readPgBenchLog(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	r := &run{}
	r.Tool, r.Line, r.every, r.sub = "pgbench", 1, 1, "log"
	s := perSecond{rate: r.figure("throughput"), latency: r.figure("latency_mean")}
	counts := make([]uint64, record.Buckets)
	n := uint64(0)
	clients := map[float64]bool{}
	sum, err := pgbench.ParseLog(text, func(t pgbench.Transaction) error {
		l, known := t.Latency.Get()
		if t.Outcome != pgbench.Done {
			r.Errors++
			return nil
		}
		if known {
			counts[record.Bucket(int64(l*1e9))]++
			n++
		}
		if len(clients) < 10000 {
			clients[t.Client] = true
		}
		s.take(t.Time, l)
		return nil
	})
	r.Seconds = float64(s.rate.n)
	r.load("clients in this file", text0(len(clients)))
	for _, q := range []float64{0.5, 0.95, 0.99} {
		if float64(n)*(1-q) >= 10 {
			r.total(quantileName(q), bucketQuantile(counts, n, q))
		}
	}
	warnings := sum.Warnings
	if s.late > 0 {
		warnings = append(warnings, format.Warning{Text: "transactions are not in order of time; late ones were counted when they came",
			Remedy: "with several threads pgbench writes a file for each; sort them together: sort -n -k5 -k6 pgbench_log.*"})
	}
	return []*run{r}, warnings, err
}

func text0(n int) string { return text(format.Some(float64(n)).Positive()) }

// bucketQuantile is the upper end of the bucket in which the quantile lies, at
// most 0.2 % too high.
func bucketQuantile(counts []uint64, n uint64, q float64) format.Num {
	seen := uint64(0)
	for i, c := range counts {
		if seen += c; c > 0 && float64(seen) >= q*float64(n) {
			_, high := record.BucketBounds(i)
			return format.Some(float64(high) * 1e-9)
		}
	}
	return format.Num{}
}

// readPgBenchAggregate reads the aggregated log; lines of several threads with
// the same time are one interval.
func readPgBenchAggregate(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	r := &run{}
	r.Tool, r.Line, r.sub = "pgbench", 1, "log"
	rate, latency := r.figure("throughput"), r.figure("latency_mean")
	var now pgbench.Aggregate
	spent, first, intervals := 0.0, 0.0, 0
	sum, err := pgbench.ParseAggregate(text, func(a pgbench.Aggregate) error {
		m, _ := a.Mean.Get()
		if intervals > 0 && a.Time == now.Time {
			now.Count, spent = now.Count+a.Count, spent+m*a.Count
			return nil
		}
		if length := a.Time - now.Time; intervals > 0 && length > 0 {
			rate.put(now.Count / length)
			if now.Count > 0 {
				latency.put(spent / now.Count)
			}
		} else if intervals == 0 {
			first = a.Time
		}
		now, spent = a, m*a.Count
		intervals++
		return nil
	})
	if intervals > 1 {
		r.Seconds = now.Time - first
		r.every = r.Seconds / float64(intervals-1)
	}
	return []*run{r}, sum.Warnings, err
}
