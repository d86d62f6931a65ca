package redis

import (
	"io"
	"math"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// every is the seconds between two progress lines.
const every = 0.25

// importFile reads the tests in the output. Each is a load of its own.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var runs observed.Runs
	log, err := parse(text, func(v report) error {
		r := runs.At(v.Run)
		r.Figure(metric.Throughput).Add(v.Rate)
		r.Figure(metric.LatencyMean).Add(v.Latency)
		return nil
	})
	for i := range log.Runs {
		imported(runs.At(i), &log.Runs[i])
	}
	return runs, append(log.Warnings, observed.Failures(log.Failures)...), err
}

// imported adds settings and figures of a test.
func imported(r *observed.Run, one *run) {
	r.Tool, r.Sub, r.Line, r.Complete = tool, one.Test, one.Line, one.Complete
	r.Every = every
	if x, ok := one.Seconds.Get(); ok {
		r.Seconds = x
	} else {
		r.Seconds = float64(one.Reports) * every
		// The length of the test is not known: a latency may be longer than the progress lines span.
		r.Complete = r.Complete && one.Reports == 0
	}
	r.MakesLoad("clients", observed.Text(one.Clients))
	if one.Payload.Known() {
		r.MakesLoad("payload", observed.Bytes(observed.Text(one.Payload)))
	}
	r.MakesLoad(keepAlive, yes(one.KeepAlive))
	r.MakesLoad("threads", observed.Text(one.Threads))
	r.MakesLoad(clusterNodes, observed.Text(one.Nodes))
	r.MakesLoad("rate", observed.Text(one.Target))
	r.MakesLoad("save", one.Save)
	r.MakesLoad("appendonly", one.AppendOnly)
	total(r, one)
}

func yes(n format.Num) string {
	switch {
	case !n.Known():
		return ""
	case n.Is(0):
		return "no"
	}
	return "yes"
}

// total adds the figures of the whole test.
func total(r *observed.Run, one *run) {
	r.Total(metric.Throughput, one.rate(r))
	if l := one.Latency; l != nil {
		r.Total(metric.LatencyMean, l.Avg)
		r.Total(metric.LatencyMin, l.Min)
		r.Total(metric.P50, l.P50)
		r.Total(metric.P95, l.P95)
		r.Total(metric.P99, l.P99)
		r.Total(metric.LatencyMax, l.Max)
	}
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		if f := r.Figure(metric.Quantile(q)); !f.Total.Known() {
			f.Total = one.quantile(q)
		}
	}
}

// rate returns the throughput, or a missing number if it differs from requests over seconds of the same
// report: every version computes it so.
func (one *run) rate(r *observed.Run) format.Num {
	rate, ok := one.Rate.Get()
	n, counted := one.Requests.Get()
	s, timed := one.Seconds.Get()
	if ok && counted && timed && s >= 0.5 && math.Abs(rate*s/n-1) > 0.02 {
		r.Doubts = append(r.Doubts, format.Warning{Line: one.Line, Text: otherRate(n, s, rate), Remedy: logChanged})
		return format.Num{}
	}
	return one.Rate
}

// Tolerances for a quantile of the distribution.
const (
	nearBound = 0.02 // relative distance of the bounds around it
	nearTail  = 0.05 // relative error of the share of requests above it
)

// quantile reads a quantile from the distribution if the bounds around it are close to each other, or if there
// is a bound at nearly the same share (99.902 % for 99.9 %); else it is missing.
func (one *run) quantile(q float64) format.Num {
	n, ok := one.Requests.Get()
	if !ok || n*(1-q) < 10 {
		return format.Num{}
	}
	low := 0.0
	for _, b := range one.Distribution {
		if b.Share < q {
			low = max(low, b.Seconds)
			continue
		}
		if b.Seconds-low <= nearBound*b.Seconds || !one.Coarse && b.Share-q <= nearTail*(1-q) {
			return format.Some(b.Seconds).NonZero()
		}
		return format.Num{}
	}
	return format.Num{}
}
