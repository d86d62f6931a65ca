package sysbench

import (
	"io"
	"math"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// imported is a run with the sums of its report lines.
type imported struct {
	*observed.Run
	events, latency *observed.Figure
	reads, writes   *observed.Figure // bytes of fileio
	transfer        *observed.Figure // bytes of memory
	queries         mix
	open            bool    // a percentile is at the end of the histogram
	errors          float64 // sum of the errors per second of all report lines
}

// mix has sums of transactions and of their queries and writes.
type mix struct{ events, queries, writes float64 }

// importFile reads the runs in sysbench's output.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	var now *imported
	var runs []*imported
	reach := func(i int) *imported {
		for len(runs) <= i {
			runs = append(runs, &imported{Run: &observed.Run{}})
		}
		return runs[i]
	}
	at := -1
	log, err := Parse(text, func(v Interval) error {
		if v.Run != at {
			at, now = v.Run, reach(v.Run)
		}
		now.add(&v)
		return nil
	})
	out := make([]*observed.Run, len(log.Runs))
	warnings := log.Warnings
	for i := range log.Runs {
		reach(i).summary(&log.Runs[i])
		out[i] = runs[i].Run
		if runs[i].open {
			warnings = append(warnings, format.Warning{Text: openBin, Remedy: takeMean})
		}
		warnings = append(warnings, observed.Failures(log.Runs[i].Failures)...)
	}
	return out, warnings, err
}

// add adds a report line. It must be fast.
func (r *imported) add(v *Interval) {
	if r.events == nil {
		r.begin(v)
	}
	r.events.Add(v.Events)
	r.latency.Add(r.closed(v.Latency.Seconds))
	r.reads.Add(v.ReadBytes)
	r.writes.Add(v.WriteBytes)
	r.transfer.Add(v.Transfer)
	if w, ok := v.Writes.Get(); ok {
		failed, _ := v.Errors.Get()
		r.errors += failed
		e, _ := v.Events.Get()
		q, known := v.Queries.Get()
		if !known {
			q = math.NaN()
		}
		r.queries.events, r.queries.queries, r.queries.writes = r.queries.events+e, r.queries.queries+q, r.queries.writes+w
	}
}

// longest is the latency in seconds at which sysbench's histogram ends: its last bin holds all longer ones, too.
const longest = 100

// closed is a latency that is no end of the histogram; such a one is missing.
func (r *imported) closed(x format.Num) format.Num {
	if seconds, ok := x.Get(); ok && seconds >= longest*0.98 { // the middle of the last bin
		r.open = true
		return format.Num{}
	}
	return x
}

// begin makes the figures, the main ones first.
func (r *imported) begin(v *Interval) {
	r.events = r.Figure(metric.Throughput)
	r.reads, r.writes, r.transfer = r.Figure(metric.Bandwidth.Of("read")), r.Figure(metric.Bandwidth.Of("write")), r.Figure(metric.Bandwidth)
	r.latency = r.Figure(metric.Quantile(v.Latency.Q))
	if v.Latency.Q == 0 {
		r.latency = observed.NewFigure(metric.Metric{}) // the run has no percentile
	}
	r.MakesLoad("threads", observed.Text(v.Threads))
}

// summary adds settings and figures of the whole run.
func (r *imported) summary(s *Run) {
	r.Tool, r.Version, r.Line, r.Complete = Program, s.Version, s.Line, s.Complete()
	if s.Test != "oltp" {
		r.Sub = s.Test
	}
	if n := s.Intervals; n > 1 {
		r.Every = (s.Last - s.First) / float64(n-1)
		r.Seconds = s.Last - s.First + r.Every
	}
	if len(r.Load) == 0 {
		r.MakesLoad("threads", observed.Text(s.Threads))
	}
	r.MakesLoad("rate", observed.Text(s.Rate.NonZero()))
	r.MayDiffer("version", s.Version)
	for _, o := range s.Settings {
		r.MakesLoad(o.Name, o.Got)
	}
	r.MayDiffer("warm-up", observed.Text(s.Warmup.NonZero()))
	if s.Checkpoints == 0 {
		r.whole(s)
	}
	if m := r.queries; m.events > 0 {
		r.Queries, r.Writes = format.Some(m.queries/m.events), format.Some(m.writes/m.events)
	}
	if s.SQL == nil {
		r.Figure(metric.Queries).Add(format.Some(r.queries.queries / float64(s.Intervals)).NonZero())
		r.Errors = uint64(math.Round(max(0, min(r.errors*r.Every, 1e15))))
	}
}

// whole adds the figures of the summary.
func (r *imported) whole(s *Run) {
	seconds := format.Num{}
	if g := s.General; g != nil {
		if x, ok := g.Time.NonZero().Get(); ok {
			r.Seconds, seconds = x, g.Time
			if n, ok := g.Events.NonZero().Get(); ok {
				r.Total(metric.Throughput, format.Some(n/x))
			}
		}
		r.Total(metric.Throughput, g.Rate.NonZero())
	}
	if q := s.SQL; q != nil {
		r.sql(q, seconds)
	}
	if f := s.FileIO; f != nil {
		r.files(f, s.performed, seconds)
	}
	if m := s.Memory; m != nil {
		r.Total(metric.Bandwidth, m.Transfer.NonZero())
	}
	if l := s.Latency; l != nil {
		r.Total(metric.LatencyMean, l.Avg)
		r.Total(metric.LatencyMin, l.Min)
		r.Total(metric.LatencyMax, l.Max)
		if l.Percentile.Q > 0 {
			r.Total(metric.Quantile(l.Percentile.Q), r.closed(l.Percentile.Seconds))
		}
	}
	r.histogram(s.Histogram)
}

// sql adds the statistics of a database test.
func (r *imported) sql(q *SQL, seconds format.Num) {
	r.Total(metric.Throughput, q.TransactionRate.NonZero())
	if n, ok := q.Errors.Get(); ok && n > 0 {
		r.Errors = uint64(n)
	}
	all := orNaN(q.Total, q.Queries)
	if t, _ := q.Transactions.Get(); t > 0 {
		r.queries = mix{t, all, orNaN(q.Write)}
	}
	if s, ok := seconds.Get(); ok && s > 0 {
		r.Total(metric.Queries, format.Some(all/s).NonZero())
	}
}

// files adds the operations of a fileio test. Its throughput leaves out syncs, which sysbench counts as
// events.
func (r *imported) files(f *FileIO, performed [3]format.Num, seconds format.Num) {
	rates := [3]format.Num{f.Reads, f.Writes, f.Syncs}
	if s, ok := seconds.Get(); ok && s > 0 && performed[0].Known() {
		for i := range rates {
			rates[i] = performed[i].Over(s)
		}
	}
	reads, ok := rates[0].Get()
	writes, also := rates[1].Get()
	if ok && also {
		r.Total(metric.Throughput, format.Some(reads+writes).NonZero())
	}
	for i, kind := range []string{"read", "write", "sync"} {
		r.Total(metric.IOPS.Of(kind), rates[i].NonZero())
	}
	r.Total(metric.Bandwidth.Of("read"), f.ReadBytes.NonZero())
	r.Total(metric.Bandwidth.Of("write"), f.WriteBytes.NonZero())
}

// orNaN returns the first known number, or NaN.
func orNaN(list ...format.Num) float64 {
	for _, n := range list {
		if x, ok := n.Get(); ok {
			return x
		}
	}
	return math.NaN()
}

// histogram adds the percentiles that the summary does not have, as the middle of a bin, which is 1.8 %
// wide.
func (r *imported) histogram(bins []format.Bin) {
	all := uint64(0)
	for _, b := range bins {
		all += b.Count
	}
	for _, q := range []float64{0.5, 0.95, 0.99} {
		if f := r.Figure(metric.Quantile(q)); f.Total.Known() || float64(all)*(1-q) < 10 {
			continue
		}
		seen := uint64(0)
		for _, b := range bins {
			if seen += b.Count; float64(seen) >= q*float64(all) {
				r.Total(metric.Quantile(q), r.closed(format.Some(b.Seconds)))
				break
			}
		}
	}
}
