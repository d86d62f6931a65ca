package units

import "strings"

// headings has the units in the names of columns and metrics of other tools, with their base units.
var headings = map[string]Heading{
	"s": {"s", 1}, "sec": {"s", 1}, "secs": {"s", 1}, "seconds": {"s", 1}, "min": {"s", 60}, "h": {"s", 3600},
	"ms": {"s", 1e-3}, "msec": {"s", 1e-3}, "milliseconds": {"s", 1e-3},
	"us": {"s", 1e-6}, "µs": {"s", 1e-6}, "usec": {"s", 1e-6}, "microseconds": {"s", 1e-6},
	"ns": {"s", 1e-9}, "nsec": {"s", 1e-9}, "nanoseconds": {"s", 1e-9},
	"%": {"ratio", 0.01}, "ratio": {"ratio", 1},
	"1/s": {"1/s", 1}, "/s": {"1/s", 1}, "/sec": {"1/s", 1}, "tps": {"1/s", 1}, "qps": {"1/s", 1}, "rps": {"1/s", 1}, "iops": {"1/s", 1},
	"op/s": {"1/s", 1}, "ops/s": {"1/s", 1}, "ops/sec": {"1/s", 1}, "req/s": {"1/s", 1}, "req/sec": {"1/s", 1}, "tx/s": {"1/s", 1},
	"requests/s": {"1/s", 1}, "queries/s": {"1/s", 1}, "transactions/s": {"1/s", 1},
	"b": {"B", 1}, "bytes": {"B", 1}, "kb": {"B", 1e3}, "mb": {"B", 1e6}, "gb": {"B", 1e9}, "tb": {"B", 1e12},
	"kib": {"B", 1 << 10}, "mib": {"B", 1 << 20}, "gib": {"B", 1 << 30}, "tib": {"B", 1 << 40},
}

// Heading converts a unit to its base unit.
type Heading struct {
	Base  string  // s, B, B/s, 1/s or ratio
	Scale float64 // factor to the base unit
}

// OfHeading finds a unit by name, in any case. A small b behind a capital letter, as in Mb/s, means
// bits and is no known unit.
func OfHeading(name string) (Heading, bool) {
	if i := strings.IndexByte(name, 'b'); i > 0 && strings.ContainsRune("KMGT", rune(name[i-1])) {
		return Heading{}, false
	}
	name = strings.ToLower(name)
	if u, ok := headings[name]; ok {
		return u, true
	}
	for _, per := range []string{"/s", "/sec"} {
		if size, ok := strings.CutSuffix(name, per); ok && headings[size].Base == "B" {
			return Heading{"B/s", headings[size].Scale}, true
		}
	}
	return Heading{}, false
}
