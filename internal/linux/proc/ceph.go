package proc

import (
	"math"
	"slices"
)

// CephOp is the kernel client's counts of one kind of requests to a Ceph file system since the
// mount.
type CephOp struct {
	Requests float64
	Taken    float64 // total time until the answer, in s
}

// CephLatency parses metrics/latency in a client's debugfs directory, for kinds by the kernel's
// names: read, write, metadata. The kernel shows a mean in whole microseconds; the total made
// of it is off by up to 1 µs for each request since the mount.
func CephLatency(text []byte, kinds []string, dst []CephOp) error {
	for i := range dst {
		dst[i] = CephOp{math.NaN(), math.NaN()}
	}
	found := 0
	for len(text) > 0 && found < len(kinds) {
		var line []byte
		line, text, _ = cutLine(text)
		kind, rest := cutField(line)
		i := slices.Index(kinds, string(kind))
		if i < 0 || !math.IsNaN(dst[i].Taken) { // other tables in the file have rows of the same names
			continue
		}
		var f [2]float64
		fieldsInto(rest, f[:])
		dst[i] = CephOp{f[0], f[0] * f[1] * 1e-6}
		if !math.IsNaN(dst[i].Taken) {
			found++
		}
	}
	if found < len(kinds) {
		for i := range dst {
			dst[i] = CephOp{math.NaN(), math.NaN()}
		}
		return malformed("metrics/latency of a Ceph client")
	}
	return nil
}

// CephWaiting parses the first line of a client's osdc, "REQUESTS 3 homeless 0": how many
// requests wait for an OSD's answer, and for how many of them no OSD is up.
func CephWaiting(text []byte) (waiting, homeless float64, err error) {
	line, _, _ := cutLine(text)
	first, line := cutField(line)
	a, line := cutField(line)
	_, line = cutField(line)
	b, _ := cutField(line)
	waiting, homeless = number(a), number(b)
	if string(first) != "REQUESTS" || math.IsNaN(waiting+homeless) {
		return math.NaN(), math.NaN(), malformed("osdc of a Ceph client")
	}
	return waiting, homeless, nil
}
