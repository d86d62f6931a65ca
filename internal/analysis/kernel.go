package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// kernel is "what the kernel saw": every probe value of every arm over the
// windows that count, per second or per operation, or its mean for a level.
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
			k.Values[a] = over(m, name, t.windowsOf(a))
		}
		out = append(out, k)
	}
	return out
}

// ownPrefix starts the names of what tare itself used, which is not of an arm.
const ownPrefix = "self."

func seen(t *table) []string {
	names := map[string]bool{}
	for _, r := range t.rows {
		for _, w := range r.windows {
			for n := range w.Probes {
				if !strings.HasPrefix(n, ownPrefix) {
					names[n] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func per(m record.ProbeMetric) string {
	switch {
	case m.Level:
		return ""
	case m.PerOp:
		return "operation"
	}
	return "second"
}

// over is missing when the value is missing in any window: a sum over some of
// them would be a different number.
func over(m record.ProbeMetric, name string, ws []*record.Window) record.Value {
	sum, seconds, ops := 0.0, 0.0, 0.0
	for _, w := range ws {
		x, ok := w.Probes[name].Get()
		if !ok {
			return w.Probes[name]
		}
		sum, seconds, ops = sum+x, seconds+w.Seconds, ops+float64(w.Ops)
	}
	switch {
	case len(ws) == 0:
		return record.Missing("no window of this arm counts")
	case m.Level:
		return record.Number(sum / float64(len(ws)))
	case m.PerOp:
		return record.Number(sum / ops)
	}
	return record.Number(sum / seconds)
}
