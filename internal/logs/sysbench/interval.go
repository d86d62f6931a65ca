package sysbench

import (
	"bytes"

	"github.com/tarelab/tare/internal/logs/format"
)

const (
	milli = 1000 // milliseconds in a second
	mebi  = 1 << 20
)

// interval reads a report line, which begins with "[". ok reports whether it is one; rest is the index of
// its end.
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

// sql reads the text behind "tps: " of 1.0 and 1.1.
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

// quantile converts a percentile and milliseconds as printed. With --percentile=0 sysbench computes none and
// prints 0.00.
func quantile(percent, ms float64) format.Quantile {
	if percent <= 0 || percent > 100 {
		return format.Quantile{}
	}
	return format.Quantile{Q: format.Share(percent), Seconds: format.Some(ms / milli).NonZero()}
}

// old reads the text behind "threads: " of 0.4.12 and 0.5.
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

// response reads "response time: 2.03ms (95%)". Builds of 0.4.12 from 2010 and 2011 have a second value,
// which is skipped.
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

// fileio reads the text behind "reads: ". MiB/s of 1.0 and MB/s of 0.4 and 0.5 both are 1048576 bytes per
// second.
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

// whole reports whether a line without a line end is complete: it ends with as many decimals as sysbench
// prints, or with a closing bracket.
func whole(b []byte) bool {
	decimals := 2
	if bytes.Contains(b, []byte(" latency (ms,")) {
		decimals = 3
	}
	point := bytes.LastIndexByte(b, '.')
	return bytes.HasSuffix(b, []byte(")")) || point >= 0 && len(b)-point-1 == decimals
}
