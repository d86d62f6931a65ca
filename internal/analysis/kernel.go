package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// kernel returns every probe value of every arm over the windows that count: per second, per
// operation or per request, or the mean of a level.
func kernel(t *table, described []record.ProbeMetric) []record.Kernel {
	by := map[string]record.ProbeMetric{}
	for _, m := range described {
		by[m.Name] = m
	}
	sums := make([]summed, len(t.arms))
	for i, a := range t.arms {
		sums[i] = t.summed(a)
	}
	var out []record.Kernel
	for _, name := range seen(t) {
		m := by[name]
		k := record.Kernel{Workload: t.load.Name, Metric: name, Unit: m.Unit, Per: per(m), Values: map[string]record.Value{}}
		for i, a := range t.arms {
			k.Values[a] = t.over(m, name, a, sums[i])
		}
		out = append(out, k)
	}
	return out
}

// ownPrefix begins the names of tare's own resources, which belong to no arm.
const ownPrefix = "self."

func seen(t *table) []string {
	var names []string
	for _, n := range t.seen.names {
		if !strings.HasPrefix(n, ownPrefix) && !strings.HasPrefix(n, ofLoad) && !strings.HasPrefix(n, ofNeighbour) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

func per(m record.ProbeMetric) string {
	switch {
	case m.Level:
		return ""
	case m.Of != "":
		return "request"
	case m.PerOp:
		return "operation"
	}
	return "second"
}

// summed is the sums over all windows of an arm that count.
type summed struct {
	windows, seconds, ops float64
	x                     []float64 // by column; NaN where a window has no value
}

func (t *table) summed(arm string) summed {
	s := summed{x: make([]float64, len(t.seen.names))}
	for _, w := range t.windowsOf(arm) {
		s.windows, s.seconds, s.ops = s.windows+1, s.seconds+w.seconds, s.ops+float64(w.ops)
		for c := range s.x {
			if c < len(w.x) {
				s.x[c] += w.x[c]
			} else {
				s.x[c] = math.NaN()
			}
		}
	}
	return s
}

// of is the sum of an observation; NaN where a window has no value.
func (t *table) of(s summed, name string) float64 {
	if c, ok := t.seen.column[name]; ok {
		return s.x[c]
	}
	return math.NaN()
}

// over returns a probe value of an arm. It is missing where one window lacks it: a sum over
// the other windows would be another number.
func (t *table) over(m record.ProbeMetric, name, arm string, s summed) record.Value {
	sum, of := t.of(s, name), 0.0
	if m.Of != "" {
		of = t.of(s, m.Of)
	}
	switch {
	case s.windows == 0:
		return record.Missing(noWindow)
	case math.IsNaN(sum):
		return record.Missing(t.reason(arm, name))
	case m.Level:
		return record.Number(sum / s.windows)
	case m.Of != "" && of == 0:
		return record.Missing(noRequest)
	case m.Of != "":
		return record.Number(sum / of)
	case m.PerOp:
		return record.Number(sum / s.ops)
	}
	return record.Number(sum / s.seconds)
}
