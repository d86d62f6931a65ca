package analysis

import (
	"math"
	"strings"

	"github.com/tarelab/tare/record"
)

// window is what is kept of a window: a record may have a hundred thousand, and
// each has some forty observations.
type window struct {
	arm                           int
	start, seconds, firstSeconds  float64
	ops, first, errors, cut, late uint64
	latency                       packed
	timed                         uint64 // operations in latency
	beside                        bool   // a neighbour was
	switched                      float64
	x                             []float64 // by column of the table's observations; NaN: none
}

// packed is a histogram of latencies in pairs of variable length integers, as in
// the record: the distance to the bucket before, and the operations in it.
type packed []byte

// Prefixes of observations that are not probes.
const (
	ofNeighbour = "neighbour "
	ofLoad      = "load "
)

// observations are the names of what windows have.
type observations struct {
	column map[string]int
	names  []string
	why    map[whose]string // why an observation is missing, of the first window
}

type whose struct{ arm, column int }

// of is the column of a name, which is made if there is none.
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

func (t *table) keep(arm int, w *record.Window) *window {
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

// value is an observation of a window; NaN where there is none.
func (t *table) value(w *window, name string) float64 {
	if c, ok := t.seen.column[name]; ok && c < len(w.x) {
		return w.x[c]
	}
	return math.NaN()
}

// reason is why an observation of an arm is missing.
func (t *table) reason(arm, name string) string {
	c, ok := t.seen.column[name]
	if !ok {
		return record.Value{}.Reason()
	}
	if why, ok := t.seen.why[whose{t.index[arm], c}]; ok {
		return why
	}
	return record.Value{}.Reason()
}

// observed is one observation of a window as it is compared, per second or, where
// the name says so, per operation; NaN where there is none. A neighbour that is
// not there used nothing.
func (t *table) observed(w *window, name string) float64 {
	if w == nil || !(w.seconds > 0) {
		return math.NaN()
	}
	if strings.HasPrefix(name, ofNeighbour) && !w.beside {
		return 0
	}
	base, each := cutPerOp(name)
	x := t.value(w, base)
	switch {
	case each && w.ops == 0:
		return math.NaN()
	case each:
		return x / float64(w.ops)
	}
	return x / w.seconds
}
