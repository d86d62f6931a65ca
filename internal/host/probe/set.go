package probe

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// Set is probes opened for one target. It is not for concurrent use.
type Set struct {
	readers []opened
	metrics []Metric
	// what the first probe reads at the ends of a window
	open, shut []sched.Reading
}

// opened is one probe of a set; reader is nil when it could not be opened.
type opened struct {
	reader Reader
	first  int // index of its first metric in the set
	n      int
	why    string
	beside bool // there is nothing here that it could observe
}

// errNothing is wrapped by the error of a probe that has nothing to observe here, which
// is no observation that is missing: its metrics are left out.
var errNothing = errors.New("nothing to observe")

// OpenAll opens every probe. One that cannot be opened yields its reason for
// each of its metrics. Close the set before the arm that it observes: open
// files hold network namespaces.
func OpenAll(probes []Probe, t Target) *Set {
	s := &Set{}
	for _, p := range probes {
		m := p.Metrics()
		o := opened{first: len(s.metrics), n: len(m)}
		r, err := p.Open(t)
		if err != nil {
			o.why, o.beside = err.Error(), errors.Is(err, errNothing)
			if remedy := hint.Of(err); remedy != "" {
				o.why += ": " + remedy
			}
		} else {
			o.reader = r
		}
		s.readers, s.metrics = append(s.readers, o), append(s.metrics, m...)
	}
	return s
}

// Unread is probes of which none reads anything, and why.
func Unread(probes []Probe, why string) *Set {
	s := &Set{}
	for _, p := range probes {
		m := p.Metrics()
		s.readers = append(s.readers, opened{first: len(s.metrics), n: len(m), why: why})
		s.metrics = append(s.metrics, m...)
	}
	return s
}

// Metrics are what Read reads, in its order.
func (s *Set) Metrics() []Metric { return s.metrics }

// Read appends one reading per metric; what cannot be read now is NaN.
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

// ReadBack replaces what is in dst by the same readings as Read, taken in the
// reverse order: the first metric is read last.
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

// exact is a Reader whose numbers can be read while Go's runtime is away.
type exact interface {
	Reader
	// readings appends what is to be read for them, as far as it is there now.
	readings(to []sched.Reading) []sched.Reading
	// correct puts what was read so in place of the numbers of Read in dst: those of the
	// last Read before readings, at the begin of a window, and of the last of all at its end.
	correct(dst []float64, got []sched.Reading, end bool)
}

// Exact is what the first probe reads, for a sched.Stay: when a window opens, and when it
// ends. It is empty where that cannot be read so.
func (s *Set) Exact() (open, shut []sched.Reading) {
	if r := s.first(); r != nil {
		s.open, s.shut = r.readings(s.open[:0]), r.readings(s.shut[:0])
		return s.open, s.shut
	}
	return nil, nil
}

// Correct puts what a stay has read into the readings of ReadBack before it, or, at the
// end of a window, into those of Read after it.
func (s *Set) Correct(dst []float64, end bool) {
	got := s.open
	if end {
		got = s.shut
	}
	if r := s.first(); r != nil && len(dst) >= s.readers[0].n {
		r.correct(dst[:s.readers[0].n], got, end)
	}
}

func (s *Set) first() exact {
	if len(s.readers) == 0 {
		return nil
	}
	r, _ := s.readers[0].reader.(exact)
	return r
}

func appendMissing(dst []float64, n int) []float64 {
	for range n {
		dst = append(dst, math.NaN())
	}
	return dst
}

// Values turns the readings at the start and at the end of a window into
// values by metric name, but for probes that have nothing to observe here. It is to be called before the next Read.
func (s *Set) Values(before, after []float64) map[string]record.Value {
	out := make(map[string]record.Value, len(s.metrics))
	whole := len(before) == len(s.metrics) && len(after) == len(s.metrics)
	for _, o := range s.readers {
		if o.beside {
			continue
		}
		for i := range o.n {
			m := s.metrics[o.first+i]
			if !whole {
				out[m.Name] = record.Missing("the window has no reading at one of its ends")
				continue
			}
			if why := s.coarse(o.first+i, before, after); why != "" {
				out[m.Name] = record.Missing(why)
				continue
			}
			out[m.Name] = o.value(m.Kind, i, before[o.first+i], after[o.first+i])
		}
	}
	return out
}

// coarsest is how large a share of a value its rounding may be.
const coarsest = 0.05

// coarse is why a difference of rounded readings says nothing; empty where it does.
func (s *Set) coarse(i int, before, after []float64) string {
	m := s.metrics[i]
	if m.Rounded == 0 {
		return ""
	}
	of := slices.IndexFunc(s.metrics, func(x Metric) bool { return x.Name == m.Of })
	if after[of] > before[of] && after[of]*m.Rounded > coarsest*(after[i]-before[i]) {
		return fmt.Sprintf("the kernel's mean is too coarse after %.0f requests since the mount", after[of])
	}
	return ""
}

func (o opened) value(kind Kind, i int, before, after float64) record.Value {
	switch {
	case math.IsNaN(after) || kind == Counter && math.IsNaN(before):
		return record.Missing(o.reason(i))
	case kind == Level:
		return record.Number(after)
	case after < before:
		return record.Missing(fmt.Sprintf("counter ran backwards, from %g to %g", before, after))
	}
	return record.Number(after - before)
}

func (o opened) reason(i int) string {
	if o.reader == nil {
		return o.why
	}
	if why := o.reader.Reason(i); why != "" {
		return why
	}
	return "not read"
}

// Close closes all probes, and may be called twice.
func (s *Set) Close() error {
	var errs []error
	for i := range s.readers {
		if r := s.readers[i].reader; r != nil {
			errs = append(errs, r.Close())
			s.readers[i].reader, s.readers[i].why = nil, "closed"
		}
	}
	return errors.Join(errs...)
}
