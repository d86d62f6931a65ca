package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/logs/format"
)

const (
	milli = 1000 // per second: what a figure in milliseconds is divided by
	mebi  = 1 << 20
)

// interval reads a report line that begins with its bracket. ok says whether
// it is one; rest is where the line's own text ends.
func (v *Interval) interval(b []byte) (ok bool, rest int) {
	c := format.Cursor{B: b}
	c.Lit("[")
	v.Time = c.Num()
	c.Lit("s")
	c.Try(" ")
	c.Lit("] ")
	if c.Bad {
		return false, 0
	}
	switch {
	case c.Try("thds: "):
		v.Threads = c.Some()
		if c.Try(" tps: ") {
			v.sql(&c)
		} else {
			c.Lit(" eps: ")
			v.Events = c.Some()
			v.percentile(&c, " lat (ms,")
		}
	case c.Try("threads: "):
		v.old(&c)
	case c.Try("reads: "):
		v.fileio(&c)
	case c.Try("queue length: "):
		v.queue = true
		c.Num()
		c.Try(",")
		c.Lit(" concurrency: ")
		c.Num()
	default:
		v.memory(&c)
	}
	return !c.Bad, c.I
}

// sql reads what 1.0 and 1.1 print behind "tps: ".
func (v *Interval) sql(c *format.Cursor) {
	v.Events = c.Some()
	c.Lit(" qps: ")
	v.Queries = c.Some()
	c.Lit(" (r/w/o: ")
	c.Num()
	c.Lit("/")
	v.Writes = c.Some()
	c.Lit("/")
	c.Num()
	c.Lit(")")
	v.percentile(c, " lat (ms,")
	c.Lit(" err/s")
	c.Try(":") // sysbench.report_default leaves it out
	c.Lit(" ")
	v.Errors = c.Some()
	c.Lit(" reconn/s: ")
	c.Num()
}

// percentile reads "lat (ms,95%): 2.61" of 1.0 and 1.1.
func (v *Interval) percentile(c *format.Cursor, label string) {
	c.Lit(label)
	q := c.Num()
	c.Lit("%): ")
	v.Latency = quantile(q, c.Num())
}

// quantile takes a percentile and milliseconds as printed. --percentile=0
// switches it off, then a 0.00 is printed all the same.
func quantile(percent, ms float64) format.Quantile {
	if percent <= 0 || percent > 100 {
		return format.Quantile{}
	}
	return format.Quantile{Q: format.Share(percent), Seconds: format.Some(ms / milli).NonZero()}
}

// old reads what 0.4.12 and 0.5 print behind "threads: ".
func (v *Interval) old(c *format.Cursor) {
	v.Threads = c.Some()
	c.Lit(", tps: ")
	v.Events = c.Some()
	c.Lit(", reads")
	c.Try("/s")
	c.Lit(": ")
	c.Num()
	c.Lit(", writes")
	c.Try("/s")
	c.Lit(": ")
	v.Writes = c.Some()
	c.Try(",") // not in 0.4
	v.response(c)
	if c.Try(", errors") {
		c.Try("/s")
		c.Lit(": ")
		v.Errors = c.Some()
	}
	if c.Try(", reconnects") {
		c.Try("/s")
		c.Lit(": ")
		c.Num()
	}
}

// response reads "response time: 2.03ms (95%)", in builds of 0.4.12 from 2010
// and 2011 with a second value behind it, which does not count.
func (v *Interval) response(c *format.Cursor) {
	c.Lit(" response time: ")
	v.Latency = oldQuantile(c)
	if c.Has(", ") && c.I+2 < len(c.B) && c.B[c.I+2]-'0' <= 9 {
		c.Lit(", ")
		oldQuantile(c)
	}
}

func oldQuantile(c *format.Cursor) format.Quantile {
	ms := c.Num()
	c.Lit("ms (")
	q := c.Num()
	c.Lit("%)")
	return quantile(q, ms)
}

// fileio reads what is behind "reads: ": MiB/s since 1.0; the MB/s of 0.4 and
// 0.5 are the same 1048576 bytes.
func (v *Interval) fileio(c *format.Cursor) {
	v.ReadBytes = c.Some().Times(mebi)
	mega(c)
	c.Lit("/s writes: ")
	v.WriteBytes = c.Some().Times(mebi)
	mega(c)
	c.Lit("/s fsyncs: ")
	c.Num()
	c.Lit("/s")
	if c.Has(" latency") {
		v.percentile(c, " latency (ms,")
		return
	}
	v.response(c)
}

func mega(c *format.Cursor) {
	if !c.Try(" MiB") {
		c.Lit(" MB")
	}
}

// memory reads "3765.41 MiB/sec", before 1.0 "3765.41 MB/sec,".
func (v *Interval) memory(c *format.Cursor) {
	v.Transfer = c.Some().Times(mebi)
	mega(c)
	c.Lit("/sec")
	c.Try(",")
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
