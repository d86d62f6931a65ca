package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// kernel is "what the kernel saw": every probe value of every arm over the
// windows that count, per second, per operation or per request, or its mean for a level.
func kernel(t *table, described []record.ProbeMetric) []record.Kernel {
	by := map[string]record.ProbeMetric{}
	for _, m := range described {
		by[m.Name] = m
	}
	var out []record.Kernel
	for _, name := range seen(t) {
		m := by[name]
		k := record.Kernel{Workload: t.load.Name, Metric: name, Unit: m.Unit, Per: per(m), Values: map[string]record.Value{}}
		for _, a := range t.arms {
			k.Values[a] = t.over(m, name, a)
		}
		out = append(out, k)
	}
	return out
}

// ownPrefix starts the names of what tare itself used, which is not of an arm.
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

// over is missing when the value is missing in any window: a sum over some of
// them would be a different number.
func (t *table) over(m record.ProbeMetric, name, arm string) record.Value {
	ws := t.windowsOf(arm)
	sum, seconds, ops, of := 0.0, 0.0, 0.0, 0.0
	for _, w := range ws {
		x := t.value(w, name)
		if math.IsNaN(x) {
			return record.Missing(t.reason(arm, name))
		}
		sum, seconds, ops = sum+x, seconds+w.seconds, ops+float64(w.ops)
		if m.Of != "" {
			of += t.value(w, m.Of)
		}
	}
	switch {
	case len(ws) == 0:
		return record.Missing("no window of this arm counts")
	case m.Level:
		return record.Number(sum / float64(len(ws)))
	case m.Of != "" && of == 0:
		return record.Missing("no window has such a request")
	case m.Of != "":
		return record.Number(sum / of)
	case m.PerOp:
		return record.Number(sum / ops)
	}
	return record.Number(sum / seconds)
}
