package analysis

import (
	"math"
	"strings"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/record"
)

// window is the compact form of record.Window: a record may have a hundred thousand windows,
// each with some forty observations, which are columns of the table here.
type window struct {
	arm                           int
	start, seconds, firstSeconds  float64
	ops, first, errors, cut, late uint64
	latency                       packed
	timed                         uint64    // operations in latency
	beside                        bool      // there was a neighbour
	switched                      float64   // seconds of freeze and thaw; 0: unknown
	x                             []float64 // observations, by column of the table; NaN: none
}

// packed is a histogram of latencies as pairs of variable-length integers, as in the record:
// the distance to the bucket before, and the operations in the bucket.
type packed []byte

// Prefixes of observations that are not probes.
const (
	ofNeighbour = "neighbour "
	ofLoad      = "load "
)

// observations are the columns of a table: probes, and values of load and neighbour.
type observations struct {
	column map[string]int
	names  []string
	why    map[whose]record.Said // reason of the first missing value
}

type whose struct{ arm, column int }

// of returns the column of a name, and adds it where there is none.
func (o *observations) of(prefix, name string) int {
	if prefix != "" {
		name = prefix + name
	}
	if c, ok := o.column[name]; ok {
		return c
	}
	c := len(o.names)
	o.column[name], o.names = c, append(o.names, name)
	return c
}

// compact makes the compact form of a window.
func (t *table) compact(arm int, w *record.Window) *window {
	k := &window{arm: arm, start: w.Start, seconds: w.Seconds, firstSeconds: w.FirstSeconds,
		ops: w.Ops, first: w.First, errors: w.Errors, cut: w.Cut, late: w.Late,
		latency: pack(w.Latency), timed: w.Latency.Total(), beside: w.Neighbour != nil}
	if w.Freeze > 0 {
		k.switched = w.Freeze + w.Thaw
	}
	k.x = make([]float64, 0, max(len(t.seen.names), len(w.Probes)+len(w.Values)+len(w.Neighbour)))
	t.note(k, "", w.Probes)
	t.note(k, ofLoad, w.Values)
	t.note(k, ofNeighbour, w.Neighbour)
	return k
}

func (t *table) note(k *window, prefix string, values map[string]record.Value) {
	for name, v := range values {
		c := t.seen.of(prefix, name)
		for len(k.x) <= c {
			k.x = append(k.x, math.NaN())
		}
		if x, ok := v.Get(); ok {
			k.x[c] = x
			continue
		}
		if _, ok := t.seen.why[whose{k.arm, c}]; !ok {
			t.seen.why[whose{k.arm, c}] = v.Reason()
		}
	}
}

// value is an observation of a window; NaN without.
func (t *table) value(w *window, name string) float64 {
	if c, ok := t.seen.column[name]; ok && c < len(w.x) {
		return w.x[c]
	}
	return math.NaN()
}

// reason is the reason why an observation of an arm is missing.
func (t *table) reason(arm, name string) record.Said {
	c, ok := t.seen.column[name]
	if !ok {
		return record.Value{}.Reason()
	}
	if why, ok := t.seen.why[whose{t.index[arm], c}]; ok {
		return why
	}
	return record.Value{}.Reason()
}

// observed is an observation of a window per second or, with a name that ends in perOp, per
// operation; NaN without. Without a neighbour its observations are 0.
func (t *table) observed(w *window, name string) float64 {
	if w == nil || !(w.seconds > 0) {
		return math.NaN()
	}
	if strings.HasPrefix(name, ofNeighbour) && !w.beside {
		return 0
	}
	base, each := observe.Cut(name)
	x := t.value(w, base)
	switch {
	case each && w.ops == 0:
		return math.NaN()
	case each:
		return x / float64(w.ops)
	}
	return x / w.seconds
}
