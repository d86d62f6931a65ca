package proc

import "math"

// Pressure parses a pressure file: the cumulative seconds in which some task, and in which
// every task that was not idle, waited for the resource. The kernel updates the totals at the
// read. A missing line is NaN ("full" of the CPU before Linux 5.13).
func Pressure(text []byte) (some, full float64) {
	some, full = math.NaN(), math.NaN()
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		if !whole {
			return some, full
		}
		text = rest
		kind, fields := cutField(line)
		switch string(kind) {
		case "some":
			some = pressureTotal(fields)
		case "full":
			full = pressureTotal(fields)
		}
	}
	return some, full
}

func pressureTotal(fields []byte) float64 {
	const key = "total="
	for {
		var f []byte
		f, fields = cutField(fields)
		if len(f) == 0 {
			return math.NaN()
		}
		if len(f) > len(key) && string(f[:len(key)]) == key {
			return number(f[len(key):]) * 1e-6
		}
	}
}
