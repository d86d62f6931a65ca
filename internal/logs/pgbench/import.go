package pgbench

import (
	"io"
	"math"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Import reads the runs of what pgbench prints.
func Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var runs observed.Runs
	var totals []spans
	log, err := Parse(text, func(p Progress) error {
		r := runs.At(p.Run)
		for len(totals) <= p.Run {
			totals = append(totals, spans{})
		}
		totals[p.Run].take(p)
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

// spans are the progress lines of a run: one that comes late, as it does when all waits,
// is of a longer time, and counts for as much.
type spans struct{ seconds, done, shortest, longest float64 }

func (s *spans) take(p Progress) {
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

// rate is that of the whole time, where the lines are not of the same length.
func (s *spans) rate() format.Num {
	if s.longest <= 1.1*s.shortest {
		return format.Num{}
	}
	return format.Some(s.done / s.seconds)
}

// scripts are the loads of single scripts, where there are several.
func scripts(one *Run) (out []*observed.Run) {
	for _, s := range one.Scripts {
		r := &observed.Run{Sub: s.Name}
		settings(r, one)
		r.Total(metric.Throughput, s.TPS.NonZero())
		r.Total(metric.LatencyMean, s.Latency)
		out = append(out, r)
	}
	return out
}

// settings are those of all scripts of a run.
func settings(r *observed.Run, one *Run) {
	r.Tool, r.Version, r.Line, r.Complete = Program, one.Version, one.Line, one.Complete()
	r.MakesLoad("script", one.Type)
	r.MakesLoad("scale", observed.Text(one.Scale))
	r.MakesLoad("clients", observed.Text(one.Clients))
	r.MakesLoad("query mode", one.QueryMode)
	r.MakesLoad("threads", observed.Text(one.Threads))
	r.MakesLoad("latency limit in s", observed.Text(one.Limit))
	r.MakesLoad("rate limit", one.limited())
	r.MakesLoad("connection for each transaction", one.reconnects())
	r.MakesLoad("version", one.Version)
	r.MayDiffer("server", one.Server)
}

// limited says whether there was a rate limit; of a report without its latency nobody knows.
func (one *Run) limited() string {
	switch {
	case one.Limited:
		return "yes"
	case one.Complete() && one.Done.Known() && one.Latency.Known():
		return "no"
	}
	return ""
}

// reconnects says whether every transaction had its own connection. Before 14 that shows only
// where the time for connections is most of the run.
func (one *Run) reconnects() string {
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

func imported(r *observed.Run, one *Run) {
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

// How a rate counts the time for making connections.
const (
	without = "without the time for connections"
	with    = "with the time for connections"
)

// rates are what the summary calls tps, by how connections count; one that does not go with
// the transactions that were counted is left out where the other does.
func (one *Run) rates(r *observed.Run) (out []observed.Rate) {
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

// proved says that a rate is near what was done in the duration. With a connection for each
// transaction, the rate without their time is of a part of the run only.
func (one *Run) proved(rate format.Num) bool {
	x, _ := rate.Get()
	done, counted := one.Done.Get()
	seconds, timed := one.Duration.Get()
	if !counted || !timed || seconds <= 0 {
		clients, known := one.Clients.Get()
		latency, measured := one.Latency.Get()
		return !known || !measured || x < 2*clients/latency // of -t: transactions of all clients, one after the other
	}
	return x < 2*done/seconds
}

// perSecond makes a series of whole seconds out of transactions that come about
// in order of time. The first second and the last are cut off somewhere and do
// not count.
type perSecond struct {
	rate, latency *observed.Figure
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
		p.rate.Put(p.count)
		if p.count > 0 {
			p.latency.Put(p.spent / p.count)
		}
	}
	p.second, p.count, p.spent, p.first = p.second+1, 0, 0, false
}

// ImportLog reads the log of single transactions: a series of seconds, and
// the latencies of all of them.
func ImportLog(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	r := &observed.Run{}
	r.Tool, r.Line, r.Every, r.Sub = Program, 1, 1, "log"
	s := perSecond{rate: r.Figure(metric.Throughput), latency: r.Figure(metric.LatencyMean)}
	clients := map[int64]bool{}
	sum, err := ParseLog(text, func(t Transaction) {
		if t.Failed || t.Skipped {
			r.Errors++
			return
		}
		r.Latency(t.Latency)
		if len(clients) < 10000 {
			clients[t.Client] = true
		}
		s.take(float64(t.Ended)/1e9, float64(t.Latency)/1e9)
	})
	r.Seconds = float64(s.rate.N())
	r.Clients = len(clients)
	warnings := sum.Warnings
	if s.late > 0 {
		warnings = append(warnings, format.Warning{Text: "transactions are not in order of time; late ones were counted when they came",
			Remedy: "with several threads pgbench writes a file for each: name them as they are, they are added up"})
	}
	return []*observed.Run{r}, warnings, err
}
