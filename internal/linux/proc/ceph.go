package proc

import (
	"math"
	"slices"
)

// CephOp is what the kernel's client of a Ceph file system counts of one kind of requests
// since it was mounted.
type CephOp struct {
	Requests float64
	Taken    float64 // until they were answered, added up, in s
}

// CephLatency reads metrics/latency of a client's directory in debugfs, for kinds as
// the kernel calls them: read, write, metadata. The kernel shows a mean in whole
// microseconds, of which a sum is made: it is off by up to one for each request since then.
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
		if i < 0 || !math.IsNaN(dst[i].Taken) { // other tables of the file name kinds too
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

// CephWaiting reads the first line of osdc of a client, "REQUESTS 3 homeless 0": how many
// requests wait for the answer of a store, and how many of them have none to ask.
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
