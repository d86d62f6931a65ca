package csv

import (
	"slices"
	"strings"
)

// units are the units that a heading can name, and what makes them base units.
var units = map[string]struct {
	unit  string
	scale float64
}{
	"s": {"s", 1}, "sec": {"s", 1}, "seconds": {"s", 1}, "ms": {"s", 1e-3}, "msec": {"s", 1e-3},
	"us": {"s", 1e-6}, "µs": {"s", 1e-6}, "usec": {"s", 1e-6}, "ns": {"s", 1e-9}, "nsec": {"s", 1e-9}, "min": {"s", 60},
	"b": {"B", 1}, "bytes": {"B", 1}, "kib": {"B", 1 << 10}, "mib": {"B", 1 << 20}, "gib": {"B", 1 << 30},
	"kb": {"B", 1e3}, "mb": {"B", 1e6}, "gb": {"B", 1e9},
	"b/s": {"B/s", 1}, "kib/s": {"B/s", 1 << 10}, "mib/s": {"B/s", 1 << 20}, "gib/s": {"B/s", 1 << 30},
	"kb/s": {"B/s", 1e3}, "mb/s": {"B/s", 1e6}, "gb/s": {"B/s", 1e9},
	"1/s": {"1/s", 1}, "ops/s": {"1/s", 1}, "tps": {"1/s", 1}, "qps": {"1/s", 1}, "iops": {"1/s", 1}, "req/s": {"1/s", 1},
	"/s": {"1/s", 1}, "/sec": {"1/s", 1}, "rps": {"1/s", 1}, "op/s": {"1/s", 1}, "ops/sec": {"1/s", 1}, "req/sec": {"1/s", 1}, "tx/s": {"1/s", 1},
	"requests/s": {"1/s", 1}, "queries/s": {"1/s", 1}, "transactions/s": {"1/s", 1},
	"milliseconds": {"s", 1e-3}, "microseconds": {"s", 1e-6}, "nanoseconds": {"s", 1e-9}, "secs": {"s", 1}, "mb/sec": {"B/s", 1e6}, "mib/sec": {"B/s", 1 << 20},
	"%": {"ratio", 0.01}, "ratio": {"ratio", 1},
}

// columns reads headings such as "p95 (ms)", "lat (ms,95%)", "throughput [MiB/s]", "latency_ms"
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
		u, ok := units[strings.ToLower(strings.TrimSpace(unit))]
		if !ok {
			return Column{Name: name, scale: 1}
		}
		return Column{Name: strings.TrimSpace(name[:open] + " " + strings.TrimSpace(statistic)), Unit: u.unit, scale: u.scale}
	}
	words := strings.Split(name, "_")
	for k, w := range words {
		u, ok := units[strings.ToLower(w)]
		switch {
		case !ok || k == 0 || strings.EqualFold(w, "min"): // latency_min is a minimum
		case u.unit == "B" && strings.EqualFold(words[0], "bw"): // bw_mib is MiB/s
			return Column{Name: strings.Join(slices.Delete(words, k, k+1), "_"), Unit: "B/s", scale: u.scale}
		case u.unit == "s" || u.unit == "B/s":
			return Column{Name: strings.Join(slices.Delete(words, k, k+1), "_"), Unit: u.unit, scale: u.scale}
		}
	}
	return Column{Name: name, scale: 1}
}
