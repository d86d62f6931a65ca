package csv

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
)

// columns reads names and units of headings such as "p95 (ms)", "lat (ms,95%)", "throughput [MiB/s]", "latency_ms"
// and "latency_ms_avg".
func columns(names []string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i] = column(name)
	}
	return out
}

func column(name string) Column {
	open := strings.LastIndexAny(name, "([")
	if open > 0 && (strings.HasSuffix(name, ")") || strings.HasSuffix(name, "]")) {
		unit, statistic, _ := strings.Cut(name[open+1:len(name)-1], ",") // sysbench: lat (ms,95%)
		u, ok := units.OfHeading(strings.TrimSpace(unit))
		if !ok {
			return Column{Name: name, scale: 1}
		}
		return Column{Name: strings.TrimSpace(name[:open] + " " + strings.TrimSpace(statistic)), Unit: u.Base, scale: u.Scale}
	}
	words := strings.Split(name, "_")
	for k, w := range words {
		u, ok := units.OfHeading(w)
		switch {
		case !ok || k == 0 || strings.EqualFold(w, "min") || strings.EqualFold(w, "h"): // latency_min is a minimum, b_h a name
		case u.Base == "B" && strings.EqualFold(words[0], "bw"): // bw_mib is MiB/s
			return Column{Name: strings.Join(slices.Delete(words, k, k+1), "_"), Unit: "B/s", scale: u.Scale}
		case u.Base == "s" || u.Base == "B/s":
			return Column{Name: strings.Join(slices.Delete(words, k, k+1), "_"), Unit: u.Base, scale: u.Scale}
		}
	}
	return Column{Name: name, scale: 1}
}
