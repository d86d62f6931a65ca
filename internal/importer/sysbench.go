package importer

import (
	"io"
	"math"
	"strconv"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/sysbench"
)

// sysbenchRun is a run with what its report lines add up to.
type sysbenchRun struct {
	*run
	events, latency *figure
	reads, writes   *figure // bytes of fileio
	transfer        *figure // bytes of memory
	queries         mix
}

// mix sums up what a transaction consists of.
type mix struct{ events, queries, writes float64 }

func readSysbench(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	var now *sysbenchRun
	var runs []*sysbenchRun
	reach := func(i int) *sysbenchRun {
		for len(runs) <= i {
			runs = append(runs, &sysbenchRun{run: &run{}})
		}
		return runs[i]
	}
	at := -1
	log, err := sysbench.Parse(text, func(v sysbench.Interval) error {
		if v.Run != at {
			at, now = v.Run, reach(v.Run)
		}
		now.take(&v)
		return nil
	})
	out := make([]*run, len(log.Runs))
	warnings := log.Warnings
	for i := range log.Runs {
		reach(i).summary(&log.Runs[i])
		out[i] = runs[i].run
		warnings = append(warnings, failures(log.Runs[i].Failures, log.Runs[i].FailureCount)...)
	}
	return out, warnings, err
}

// take is called for every report line: it must be quick.
func (r *sysbenchRun) take(v *sysbench.Interval) {
	if r.events == nil {
		r.begin(v)
	}
	r.events.add(v.Events)
	r.latency.add(v.Latency.Seconds)
	r.reads.add(v.ReadBytes)
	r.writes.add(v.WriteBytes)
	r.transfer.add(v.Transfer)
	if w, ok := v.Writes.Get(); ok {
		e, _ := v.Events.Get()
		q, known := v.Queries.Get()
		if !known {
			q = math.NaN()
		}
		r.queries.events, r.queries.queries, r.queries.writes = r.queries.events+e, r.queries.queries+q, r.queries.writes+w
	}
}

// begin makes the figures in the order of their importance.
func (r *sysbenchRun) begin(v *sysbench.Interval) {
	r.events = r.figure("throughput")
	r.reads, r.writes, r.transfer = r.figure("read_bandwidth"), r.figure("write_bandwidth"), r.figure("bandwidth")
	r.latency = r.figure(quantileName(v.Latency.Q))
	if v.Latency.Q == 0 {
		r.latency = &figure{} // percentiles are disabled
	}
	r.load("threads", text(v.Threads))
}

// summary adds what the log says of the run as a whole.
func (r *sysbenchRun) summary(s *sysbench.Run) {
	r.Tool, r.Version, r.Line, r.Complete = "sysbench", s.Version, s.Line, s.Complete()
	if s.Test != "oltp" {
		r.sub = s.Test
	}
	if n := s.Intervals; n > 1 {
		r.every = (s.Last - s.First) / float64(n-1)
		r.Seconds = s.Last - s.First + r.every
	}
	if len(r.Load) == 0 {
		r.load("threads", text(s.Threads))
	}
	r.load("rate", text(s.Rate.Positive()))
	r.other("version", s.Version)
	r.other("warm-up", text(s.Warmup.Positive()))
	if s.Checkpoints == 0 {
		r.whole(s)
	}
	if m := r.queries; m.events > 0 {
		r.load("queries per transaction", ratio(m.queries, m.events))
		r.load("writes per transaction", ratio(m.writes, m.events))
	}
}

// ratio is to one digit: what a transaction consists of is a whole number, and
// report lines cut transactions in two.
func ratio(a, b float64) string {
	if !(b > 0) || math.IsNaN(a) {
		return ""
	}
	return strconv.FormatFloat(math.Round(10*a/b)/10, 'g', -1, 64)
}

// whole takes the summary.
func (r *sysbenchRun) whole(s *sysbench.Run) {
	if g := s.General; g != nil {
		if x, ok := g.Time.Positive().Get(); ok {
			r.Seconds = x
			if n, ok := g.Events.Positive().Get(); ok {
				r.total("throughput", format.Some(n/x))
			}
		}
		r.total("throughput", g.Rate.Positive())
	}
	if q := s.SQL; q != nil {
		r.total("throughput", q.Transactions.Rate.Positive())
		if n, ok := q.Errors.Total.Get(); ok && n > 0 {
			r.Errors = uint64(n)
		}
		if t, _ := q.Transactions.Total.Get(); t > 0 {
			r.queries = mix{t, orNaN(q.Total, q.Queries.Total), orNaN(q.Write)}
		}
	}
	if f := s.FileIO; f != nil {
		r.total("read_bandwidth", f.ReadBytes.Positive())
		r.total("write_bandwidth", f.WriteBytes.Positive())
	}
	if m := s.Memory; m != nil {
		r.total("bandwidth", m.Transfer.Positive())
	}
	if l := s.Latency; l != nil {
		r.total("latency_mean", l.Avg.Positive())
		if l.Percentile.Q > 0 {
			r.total(quantileName(l.Percentile.Q), l.Percentile.Seconds)
		}
	}
	r.histogram(s.Histogram)
}

// orNaN is the first number that is known.
func orNaN(list ...format.Num) float64 {
	for _, n := range list {
		if x, ok := n.Get(); ok {
			return x
		}
	}
	return math.NaN()
}

// histogram gives the percentiles that the summary does not. A bar is 1.8 % wide
// and known by its middle.
func (r *sysbenchRun) histogram(bins []format.Bin) {
	all := uint64(0)
	for _, b := range bins {
		all += b.Count
	}
	for _, q := range []float64{0.5, 0.95, 0.99} {
		if f := r.figure(quantileName(q)); f.total.Known() || float64(all)*(1-q) < 10 {
			continue
		}
		seen := uint64(0)
		for _, b := range bins {
			if seen += b.Count; float64(seen) >= q*float64(all) {
				r.total(quantileName(q), format.Some(b.Seconds))
				break
			}
		}
	}
}
