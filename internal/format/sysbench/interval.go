package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

const (
	milli = 1000 // per second: what a figure in milliseconds is divided by
	mebi  = 1 << 20
)

// cursor walks through a line; the first thing that does not fit makes it bad.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// lit passes over a text.
func (c *cursor) lit(s string) {
	if len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		c.bad = true
		return
	}
	c.i += len(s)
}

// try passes over a text if it is there.
func (c *cursor) try(s string) bool {
	if len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		return false
	}
	c.i += len(s)
	return true
}

// num passes over blanks and a number.
func (c *cursor) num() float64 {
	for c.i < len(c.b) && c.b[c.i] == ' ' {
		c.i++
	}
	x, n := format.Number(c.b[c.i:])
	if n == 0 || x < 0 {
		c.bad = true
		return 0
	}
	c.i += n
	return x
}

// has says whether the rest begins with s.
func (c *cursor) has(s string) bool {
	return len(c.b)-c.i >= len(s) && string(c.b[c.i:c.i+len(s)]) == s
}

// interval reads a report line that begins with its bracket. ok says whether
// it is one; rest is where the line's own text ends.
func (v *Interval) interval(b []byte) (ok bool, rest int) {
	c := cursor{b: b}
	c.lit("[")
	v.Time = c.num()
	c.lit("s")
	c.try(" ")
	c.lit("] ")
	if c.bad {
		return false, 0
	}
	switch {
	case c.try("thds: "):
		v.Threads = format.Some(c.num())
		if c.try(" tps: ") {
			v.sql(&c)
		} else {
			c.lit(" eps: ")
			v.Events = format.Some(c.num())
			v.percentile(&c, " lat (ms,")
		}
	case c.try("threads: "):
		v.old(&c)
	case c.try("reads: "):
		v.fileio(&c)
	case c.try("queue length: "):
		v.Queue = format.Some(c.num())
		c.try(",")
		c.lit(" concurrency: ")
		v.Concurrency = format.Some(c.num())
	default:
		v.memory(&c)
	}
	return !c.bad, c.i
}

// sql reads what 1.0 and 1.1 print behind "tps: ".
func (v *Interval) sql(c *cursor) {
	v.Events = format.Some(c.num())
	c.lit(" qps: ")
	v.Queries = format.Some(c.num())
	c.lit(" (r/w/o: ")
	v.Reads = format.Some(c.num())
	c.lit("/")
	v.Writes = format.Some(c.num())
	c.lit("/")
	v.Other = format.Some(c.num())
	c.lit(")")
	v.percentile(c, " lat (ms,")
	c.lit(" err/s")
	c.try(":") // sysbench.report_default leaves it out
	c.lit(" ")
	v.Errors = format.Some(c.num())
	c.lit(" reconn/s: ")
	v.Reconnects = format.Some(c.num())
}

// percentile reads "lat (ms,95%): 2.61" of 1.0 and 1.1.
func (v *Interval) percentile(c *cursor, label string) {
	c.lit(label)
	q := c.num()
	c.lit("%): ")
	v.Latency = quantile(q, c.num())
}

// quantile takes a percentile and milliseconds as printed. --percentile=0
// switches it off, then a 0.00 is printed all the same.
func quantile(percent, ms float64) format.Quantile {
	if percent <= 0 || percent > 100 {
		return format.Quantile{}
	}
	return format.Quantile{Q: format.Share(percent), Seconds: format.Some(ms / milli).Positive()}
}

// old reads what 0.4.12 and 0.5 print behind "threads: ".
func (v *Interval) old(c *cursor) {
	v.Threads = format.Some(c.num())
	c.lit(", tps: ")
	v.Events = format.Some(c.num())
	c.lit(", reads")
	c.try("/s")
	c.lit(": ")
	v.Reads = format.Some(c.num())
	c.lit(", writes")
	c.try("/s")
	c.lit(": ")
	v.Writes = format.Some(c.num())
	c.try(",") // not in 0.4
	v.response(c)
	if c.try(", errors") {
		c.try("/s")
		c.lit(": ")
		v.Errors = format.Some(c.num())
	}
	if c.try(", reconnects") {
		c.try("/s")
		c.lit(": ")
		v.Reconnects = format.Some(c.num())
	}
}

// response reads "response time: 2.03ms (95%)", in builds of 0.4.12 from 2010
// and 2011 with a second value behind it.
func (v *Interval) response(c *cursor) {
	c.lit(" response time: ")
	v.Latency = oldQuantile(c)
	if c.i+2 < len(c.b) && c.b[c.i] == ',' && c.b[c.i+1] == ' ' && c.b[c.i+2]-'0' <= 9 {
		c.lit(", ")
		v.Latency2 = oldQuantile(c)
	}
}

func oldQuantile(c *cursor) format.Quantile {
	ms := c.num()
	c.lit("ms (")
	q := c.num()
	c.lit("%)")
	return quantile(q, ms)
}

// fileio reads what is behind "reads: ": MiB/s since 1.0; the MB/s of 0.4 and
// 0.5 are the same 1048576 bytes.
func (v *Interval) fileio(c *cursor) {
	v.ReadBytes = format.Some(c.num() * mebi)
	mega(c)
	c.lit("/s writes: ")
	v.WriteBytes = format.Some(c.num() * mebi)
	mega(c)
	c.lit("/s fsyncs: ")
	v.Syncs = format.Some(c.num())
	c.lit("/s")
	if c.has(" latency") {
		v.percentile(c, " latency (ms,")
		return
	}
	v.response(c)
}

func mega(c *cursor) {
	if !c.try(" MiB") {
		c.lit(" MB")
	}
}

// memory reads "3765.41 MiB/sec", before 1.0 "3765.41 MB/sec,".
func (v *Interval) memory(c *cursor) {
	v.Transfer = format.Some(c.num() * mebi)
	mega(c)
	c.lit("/sec")
	c.try(",")
}

// find returns where in a line a report line begins behind something else: a
// prompt, a line number, a quotation mark; -1 when there is none.
func find(line []byte) int {
	for _, key := range []string{"] thds: ", "] threads: ", "] reads: ", "] queue length: "} {
		if i := bytes.Index(line, []byte(key)); i > 0 {
			return bytes.LastIndexByte(line[:i], '[')
		}
	}
	return -1
}

// whole says whether the text that a report line ends with was printed to its
// end: the decimals that sysbench prints, or a closing bracket. It is asked
// when the input stops without a line end.
func whole(b []byte) bool {
	decimals := 2
	if bytes.Contains(b, []byte(" latency (ms,")) {
		decimals = 3
	}
	point := bytes.LastIndexByte(b, '.')
	return bytes.HasSuffix(b, []byte(")")) || point >= 0 && len(b)-point-1 == decimals
}
