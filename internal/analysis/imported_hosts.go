package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Where a table names the machine of each run, machines are a level above runs: runs of one machine share its
// deviation, which more of them does not average out. The unit of the statistics is then the machine.

// byHost returns the mean of each machine's values, by its name. values belong to runs, in order. nil: one machine, or
// none is named.
func byHost(runs []*record.Observed, values []float64) map[string]float64 {
	lists := map[string][]float64{}
	for i, o := range runs {
		lists[o.Host] = append(lists[o.Host], values[i])
	}
	out := map[string]float64{}
	for host, list := range lists {
		out[host] = stat.Mean(list).Mean
	}
	return out
}

// manyHosts reports whether the runs of two arms name more than one machine.
func manyHosts(a, b []*record.Observed) bool {
	return slices.ContainsFunc(slices.Concat(a, b), func(o *record.Observed) bool { return o.Host != a[0].Host })
}

// acrossHosts is the difference of two arms whose runs were made on several machines, and the reason where there is no
// interval. Machines that have both arms are compared with themselves; else the machines of one arm are compared with
// those of the other. Both need leastRuns machines.
func acrossHosts(a, base map[string]float64) (stat.Estimate, record.Said) {
	var paired []float64
	for _, host := range slices.Sorted(maps.Keys(a)) {
		if b, ok := base[host]; ok {
			paired = append(paired, a[host]-b)
		}
	}
	means := func(m map[string]float64) (out []float64) {
		for _, host := range slices.Sorted(maps.Keys(m)) {
			out = append(out, m[host])
		}
		return out
	}
	unknown := stat.Estimate{SE: math.NaN()}
	switch {
	case len(paired) >= leastRuns:
		return stat.Mean(paired), record.Said{}
	case len(a) >= leastRuns && len(base) >= leastRuns:
		return difference(means(a), means(base)), record.Said{}
	case len(paired) > 1:
		unknown.Mean = stat.Mean(paired).Mean
	default:
		unknown.Mean = stat.Mean(means(a)).Mean - stat.Mean(means(base)).Mean
	}
	if len(paired) == 0 {
		return unknown, otherHosts(len(base), len(a), leastRuns)
	}
	return unknown, fewHosts(len(paired), leastRuns)
}
