package proc

import (
	"bytes"
	"math"
)

// NetCounters parses the text of /proc/PID/net/snmp or netstat, in which a line of names
// precedes a line of numbers. dst[i] becomes the counter names[i] of the protocol ("Tcp",
// "TcpExt"); NaN: it is missing or negative.
func NetCounters(text []byte, protocol string, names []string, dst []float64) {
	missing(dst)
	for len(text) > 0 {
		head, rest, whole := cutLine(text)
		values, rest, whole2 := cutLine(rest)
		if !whole || !whole2 {
			return
		}
		text = rest
		tag, head := cutField(head)
		tag2, values := cutField(values)
		if len(tag) == 0 || tag[len(tag)-1] != ':' || !bytes.Equal(tag, tag2) {
			return
		}
		if string(tag[:len(tag)-1]) == protocol {
			netPair(head, values, names, dst)
			return
		}
	}
}

func netPair(head, values []byte, names []string, dst []float64) {
	for {
		var name, value []byte
		name, head = cutField(head)
		value, values = cutField(values)
		if len(name) == 0 {
			return
		}
		for i, want := range names {
			if string(name) == want {
				dst[i] = number(value)
			}
		}
	}
}

// Softnet parses softnet_stat, which has one line for each CPU, and adds up three counters of
// the network softirq: packets handled, packets dropped because a CPU's backlog queue was full,
// and times that the softirq used up its budget with work left. Each counter has 32 bits per
// CPU and wraps. The kernel counts for the whole host and not by network namespace.
func Softnet(text []byte) (processed, dropped, squeezed float64, err error) {
	nan, lines := math.NaN(), 0
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		text = rest
		a, line := cutField(line)
		b, line := cutField(line)
		c, _ := cutField(line)
		p, d, s := hex(a), hex(b), hex(c)
		if !whole || math.IsNaN(p+d+s) {
			return nan, nan, nan, malformed("softnet_stat")
		}
		processed, dropped, squeezed = processed+p, dropped+d, squeezed+s
		lines++
	}
	if lines == 0 {
		return nan, nan, nan, malformed("softnet_stat")
	}
	return processed, dropped, squeezed, nil
}
