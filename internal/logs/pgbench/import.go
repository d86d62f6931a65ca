package pgbench

import (
	"io"
	"math"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// importFile reads the runs in pgbench's output.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var runs observed.Runs
	var totals []spans
	log, err := parse(text, func(p progress) error {
		r := runs.At(p.Run)
		for len(totals) <= p.Run {
			totals = append(totals, spans{})
		}
		totals[p.Run].add(p)
		r.Figure(metric.Throughput).Add(p.TPS)
		r.Figure(metric.LatencyMean).Add(p.Latency)
		if x, ok := p.Length.Get(); ok {
			r.Seconds += x
		}
		return nil
	})
	warnings := log.Warnings
	for i := range log.Runs {
		if i < len(totals) && !log.Runs[i].Complete() {
			runs.At(i).Total(metric.Throughput, totals[i].rate())
		}
		imported(runs.At(i), &log.Runs[i])
		warnings = append(warnings, observed.Failures(log.Runs[i].Failures)...)
	}
	out := []*observed.Run(runs)
	for i := range log.Runs {
		out = append(out, scripts(&log.Runs[i])...)
	}
	return out, warnings, err
}

// spans has sums over the progress lines of a run. A line that comes late, because pgbench had to wait, spans
// a longer time and weighs more.
type spans struct{ seconds, done, shortest, longest float64 }

func (s *spans) add(p progress) {
	length, known := p.Length.Get()
	rate, ok := p.TPS.Get()
	if !known || !ok || length <= 0 {
		return
	}
	if s.seconds == 0 {
		s.shortest = length
	}
	s.shortest, s.longest = min(s.shortest, length), max(s.longest, length)
	s.seconds, s.done = s.seconds+length, s.done+length*rate
}

// rate is the rate over all lines, weighted by their length; missing if all lines are about equally long.
func (s *spans) rate() format.Num {
	if s.longest <= 1.1*s.shortest {
		return format.Num{}
	}
	return format.Some(s.done / s.seconds)
}

// scripts makes a load of each script, if there are several.
func scripts(one *run) (out []*observed.Run) {
	for _, s := range one.Scripts {
		r := &observed.Run{Sub: s.Name}
		settings(r, one)
		r.Total(metric.Throughput, s.TPS.NonZero())
		r.Total(metric.LatencyMean, s.Latency)
		out = append(out, r)
	}
	return out
}

// settings adds the settings of a run.
func settings(r *observed.Run, one *run) {
	r.Tool, r.Version, r.Line, r.Complete = Program, one.Version, one.Line, one.Complete()
	r.MakesLoad("script", one.Type)
	r.MakesLoad("scale", observed.Text(one.Scale))
	r.MakesLoad("clients", observed.Text(one.Clients))
	r.MakesLoad(queryMode, one.QueryMode)
	r.MakesLoad("threads", observed.Text(one.Threads))
	r.MakesLoad(latencyLimit, observed.Text(one.Limit))
	r.MakesLoad(rateLimit, one.limited())
	r.MakesLoad(connectionFor, one.reconnects())
	r.MayDiffer("version", one.Version)
	r.MayDiffer("server", one.Server)
}

// limited reports whether there was a rate limit; empty: not known, as in a report without the latency.
func (one *run) limited() string {
	switch {
	case one.Limited:
		return "yes"
	case one.Complete() && one.Done.Known() && one.Latency.Known():
		return "no"
	}
	return ""
}

// reconnects reports whether every transaction had its own connection; empty: not known. Before 14 this only
// shows if connecting took most of the run.
func (one *run) reconnects() string {
	apart, known := one.TPS.Get()
	whole, both := one.TPSConnecting.Get()
	switch {
	case one.Reconnects, known && both && apart > 2*whole:
		return "yes"
	case one.Initial:
		return "no"
	}
	return ""
}

// imported adds the settings and the summary of a run.
func imported(r *observed.Run, one *run) {
	settings(r, one)
	if one.Intervals > 0 {
		r.Every = r.Seconds / float64(one.Intervals)
	}
	if x, ok := one.Duration.Get(); ok {
		r.Seconds = x
		r.Done = one.Done
	}
	if x, ok := one.Failed.Get(); ok {
		r.Errors = uint64(x)
	}
	r.Rates = one.rates(r)
	r.Total(metric.LatencyMean, one.Latency.NonZero())
	r.Total(metric.Share("skipped_share"), one.Skipped.NonZero())
	r.Total(metric.Share("above_limit_share"), one.Above.NonZero())
}

// rates returns the summary's rates, with and without the time for connections. It leaves out the first if
// only the second fits the number of transactions.
func (one *run) rates(r *observed.Run) (out []observed.Rate) {
	for _, x := range []observed.Rate{{Counts: without, PerSecond: one.TPS.NonZero()}, {Counts: with, PerSecond: one.TPSConnecting.NonZero()}} {
		if x.PerSecond.Known() {
			out = append(out, x)
		}
	}
	if len(out) == 2 && !one.proved(out[0].PerSecond) && one.proved(out[1].PerSecond) {
		return out[1:]
	}
	return out
}

// proved reports that a rate fits the number of transactions and the duration. With a connection for each
// transaction, the rate without the time for connections covers only a part of the run.
func (one *run) proved(rate format.Num) bool {
	x, _ := rate.Get()
	done, counted := one.Done.Get()
	seconds, timed := one.Duration.Get()
	if !counted || !timed || seconds <= 0 {
		clients, known := one.Clients.Get()
		latency, measured := one.Latency.Get()
		return !known || !measured || x < 2*clients/latency // -t: each client runs its transactions one after the other
	}
	return x < 2*done/seconds
}

// perSecond makes a series of seconds of transactions, which come nearly in order of time. The first and the
// last second are incomplete and do not count.
type perSecond struct {
	rate, latency *observed.Figure
	second        float64 // the current second
	begun         bool
	first         bool    // second is the first one
	count         float64 // transactions in the current second
	spent         float64 // sum of their latencies in seconds
	late          int     // transactions that belong to an earlier second
}

// add counts a transaction that ended at a time in seconds.
func (p *perSecond) add(at, latency float64) {
	s := math.Floor(at)
	switch {
	case !p.begun:
		p.second, p.begun, p.first = s, true, true
	case s < p.second:
		p.late++
		s = p.second
	case s-p.second > 86400: // a damaged time: do not add a day of empty seconds
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
		p.rate.Put(p.count)
		if p.count > 0 {
			p.latency.Put(p.spent / p.count)
		}
	}
	p.second, p.count, p.spent, p.first = p.second+1, 0, 0, false
}

// importLog reads the log of transactions as a series of seconds and a distribution of latencies.
func importLog(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	r := &observed.Run{}
	r.Tool, r.Line, r.Every, r.Sub = Program, 1, 1, "log"
	s := perSecond{rate: r.Figure(metric.Throughput), latency: r.Figure(metric.LatencyMean)}
	clients := map[int64]bool{}
	sum, err := parseLog(text, func(t Transaction) {
		if t.Failed || t.Skipped {
			r.Errors++
			return
		}
		r.Latency(t.Latency)
		if len(clients) < 10000 {
			clients[t.Client] = true
		}
		s.add(float64(t.Ended)/1e9, float64(t.Latency)/1e9)
	})
	r.Seconds = float64(s.rate.N())
	r.Clients = len(clients)
	warnings := sum.Warnings
	if s.late > 0 {
		warnings = append(warnings, format.Warning{Text: notInOrder, Remedy: filesOfThreads})
	}
	return []*observed.Run{r}, warnings, err
}
