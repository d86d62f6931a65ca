package probe

import (
	"errors"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// Set is a list of probes opened for one target. It is not safe for concurrent use.
type Set struct {
	readers []openProbe
	metrics []Metric
	edges   sched.EdgeReadings // of the first probe; windows reuse the buffers
}

// openProbe is one probe of a set.
type openProbe struct {
	reader  Reader      // nil: the probe could not be opened
	first   int         // index of its first metric in the set
	n       int         // number of its metrics
	why     record.Said // reason for the missing reader
	nothing bool        // the probe has nothing to observe here
}

// errNothing means that a probe has nothing to observe here, such as NFS requests when the data is
// on a local disk. Values then returns none of its metrics, not even as missing.
var errNothing = errors.New("nothing to observe")

// OpenAll opens every probe. Each metric of a probe that cannot be opened is missing, with
// the reason. Close the set before the arm: open files of /proc/PID keep the arm's network
// namespace alive.
func OpenAll(probes []Probe, t Target) *Set {
	s := &Set{}
	for _, p := range probes {
		m := p.Metrics()
		o := openProbe{first: len(s.metrics), n: len(m)}
		r, err := p.Open(t)
		if err != nil {
			o.why, o.nothing = whyOf(err), errors.Is(err, errNothing)
		} else {
			o.reader = r
		}
		s.readers, s.metrics = append(s.readers, o), append(s.metrics, m...)
	}
	return s
}

// Unread is a set without readers: every value is missing, with the reason why.
func Unread(probes []Probe, why record.Said) *Set {
	s := &Set{}
	for _, p := range probes {
		m := p.Metrics()
		s.readers = append(s.readers, openProbe{first: len(s.metrics), n: len(m), why: why})
		s.metrics = append(s.metrics, m...)
	}
	return s
}

// Metrics are the metrics of all probes, in the order in which Read appends their numbers.
func (s *Set) Metrics() []Metric { return s.metrics }

// Read appends one number per metric; NaN: it cannot be read now.
func (s *Set) Read(dst []float64) []float64 {
	for _, o := range s.readers {
		if o.reader != nil {
			dst = o.reader.Read(dst)
		} else {
			dst = appendMissing(dst, o.n)
		}
	}
	return dst
}

// ReadBack reads the same numbers as Read, but the last probe first: the first probe is then read
// closest to the opening of the window. It overwrites dst from its beginning.
func (s *Set) ReadBack(dst []float64) []float64 {
	dst = slices.Grow(dst[:0], len(s.metrics))[:len(s.metrics)]
	for _, o := range slices.Backward(s.readers) {
		at := dst[o.first : o.first : o.first+o.n]
		if o.reader != nil {
			o.reader.Read(at)
		} else {
			appendMissing(at, o.n)
		}
	}
	return dst
}

// EdgeReadings returns the readings, still without results, that sched.MarkedSleep is to take for the
// first probe at the edges of the next window; empty if the probe cannot be read there. Call it
// after ReadBack, and pass the results to AtEdges.
func (s *Set) EdgeReadings() sched.EdgeReadings {
	if len(s.readers) == 0 || s.readers[0].reader == nil {
		return sched.EdgeReadings{}
	}
	for e := range s.edges {
		s.edges[e] = s.readers[0].reader.atEdge(s.edges[e][:0])
	}
	return s.edges
}

// AtEdges returns before and after with the first probe's numbers replaced by those read at the
// edges. Where got has no readings for an edge, the numbers of ReadBack or Read stay. Call it
// before the next Read.
func (s *Set) AtEdges(before, after []float64, got sched.EdgeReadings) (atOpening, atClosing []float64) {
	return s.movedToEdge(before, sched.Opening, got), s.movedToEdge(after, sched.Closing, got)
}

// movedToEdge returns numbers with those of the first probe moved to an edge.
func (s *Set) movedToEdge(numbers []float64, e sched.Edge, got sched.EdgeReadings) []float64 {
	if len(got[e]) == 0 || len(numbers) != len(s.metrics) {
		return numbers
	}
	o := s.readers[0]
	numbers = slices.Clone(numbers)
	o.reader.moveTo(e, numbers[:o.n], got[e])
	return numbers
}

func appendMissing(dst []float64, n int) []float64 {
	for range n {
		dst = append(dst, math.NaN())
	}
	return dst
}

// Values turns the readings before and after a window into values by metric name, without
// the probes that have nothing to observe here. Call it before the next Read.
func (s *Set) Values(before, after []float64) map[string]record.Value {
	out := make(map[string]record.Value, len(s.metrics))
	complete := len(before) == len(s.metrics) && len(after) == len(s.metrics)
	for _, o := range s.readers {
		if o.nothing {
			continue
		}
		for i := range o.n {
			m := s.metrics[o.first+i]
			if !complete {
				out[m.Name] = record.Missing(noReadingAtEnd)
				continue
			}
			if why := s.tooCoarse(o.first+i, before, after); !why.IsZero() {
				out[m.Name] = record.Missing(why)
				continue
			}
			out[m.Name] = o.value(m.Kind, i, before[o.first+i], after[o.first+i])
		}
	}
	return out
}

// maxRounding is the largest rounding error of a value, as a ratio to the value.
const maxRounding = 0.05

// tooCoarse returns why the difference of two rounded readings is too inaccurate; nothing: it is
// accurate enough. The kernel's mean is over all requests since the mount, so its rounding error
// grows with their number.
func (s *Set) tooCoarse(i int, before, after []float64) record.Said {
	m := s.metrics[i]
	if m.Rounded == 0 {
		return record.Said{}
	}
	of := slices.IndexFunc(s.metrics, func(x Metric) bool { return x.Name == m.Of })
	if after[of] > before[of] && after[of]*m.Rounded > maxRounding*(after[i]-before[i]) {
		return record.Say("mean_too_coarse", "requests", after[of])
	}
	return record.Said{}
}

func (o openProbe) value(kind Kind, i int, before, after float64) record.Value {
	switch {
	case math.IsNaN(after) || kind == Counter && math.IsNaN(before):
		return record.Missing(o.reason(i))
	case kind == Level:
		return record.Number(after)
	case after < before:
		return record.Missing(record.Say("ran_backwards", "from", before, "to", after))
	}
	return record.Number(after - before)
}

func (o openProbe) reason(i int) record.Said {
	if o.reader == nil {
		return o.why
	}
	if why := o.reader.Reason(i); !why.IsZero() {
		return why
	}
	return notRead
}

// Close closes all probes. It may be called twice.
func (s *Set) Close() error {
	var errs []error
	for i := range s.readers {
		if r := s.readers[i].reader; r != nil {
			errs = append(errs, r.Close())
			s.readers[i].reader, s.readers[i].why = nil, record.InProse("closed")
		}
	}
	return errors.Join(errs...)
}
