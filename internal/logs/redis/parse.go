package redis

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
)

const (
	tool  = "redis-benchmark"
	milli = 1000 // milliseconds in a second
)

// parser is the state between lines.
type parser struct {
	format.Scan
	each func(report) error
	log  content

	run     *run     // the current test; nil: none
	named   string   // the title above the next report
	titled  int      // the number of its line
	row     bool     // the next line of numbers is the summary of latencies
	columns []string // of --csv
}

// parse reads the tests in r. It calls each, if not nil, with the progress lines that count, and stops when
// each returns an error. It returns what it read also with an error. Input without a test is an error.
func parse(r io.Reader, each func(report) error) (*content, error) {
	p := &parser{Scan: format.NewScan(r, declared), each: each}
	p.Returns()
	err := p.Each(p.line)
	p.end()
	p.log.Warnings = p.Doubts()
	if err == nil && len(p.log.Runs) == 0 {
		if err = p.Why(); p.log.Failures.Count > 0 {
			err = &format.Error{Line: p.log.Failures.First.Line, Text: toolSays(p.log.Failures.First.Text), Remedy: repeatTheBench}
		}
	}
	return &p.log, err
}

func (p *parser) line(line []byte) error {
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0:
	case p.Torn() && !whole(text):
		p.NoEnd()
	case bytes.Contains(text, []byte(" (overall: ")):
		return p.progress(text)
	case !p.title(text) && !p.quiet(text) && !p.csv(text) && !p.field(string(text)) && !p.failure(text):
		p.Strange(line)
	}
	return nil
}

// whole reports whether a line without a line end is complete.
func whole(text []byte) bool {
	for _, end := range []string{" ======", " seconds", " clients", " payload", " second", " msec", ")", " milliseconds", ":", `"`} {
		if bytes.HasSuffix(text, []byte(end)) {
			return true
		}
	}
	i := bytes.LastIndexByte(text, '.')
	return i >= 0 && len(text)-i == 4 // the summary of latencies
}

// start begins a test, or continues the test of the progress lines before.
func (p *parser) start(test string) *run {
	test = strings.ToValidUTF8(test[:min(len(test), 200)], "?")
	n := p.Number()
	if r := p.run; r != nil && r.Test == test && r.ticks > 0 && !r.begun() {
		r.End = n
		return r
	}
	p.end()
	p.log.Runs = append(p.log.Runs, run{Line: n, End: n, Test: test})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	return p.run
}

// begun reports that the report has begun.
func (r *run) begun() bool { return r.Requests.Known() || r.Complete }

// need returns the current test, and begins one if there is none.
func (p *parser) need() *run {
	if p.run == nil {
		p.start("")
	}
	p.run.End = p.Number()
	return p.run
}

// end ends the current test.
func (p *parser) end() {
	r := p.run
	p.run, p.named, p.row = nil, "", false
	if r == nil {
		return
	}
	if !r.Complete {
		p.Add(r.End, noReport(r.Test, r.Line), stoppedOrCut)
	}
	if n, ok := r.Requests.Get(); ok && n > 0 && !r.Coarse {
		for i := range r.Distribution {
			r.Distribution[i].Share = min(1, r.Distribution[i].Count/n) // the printed share is the one searched for, not the exact one
		}
	}
	slices.SortStableFunc(r.Distribution, func(a, b bound) int {
		return cmp.Or(cmp.Compare(a.Share, b.Share), cmp.Compare(a.Seconds, b.Seconds))
	})
}

// title reads "====== SET ======".
func (p *parser) title(text []byte) bool {
	before, rest, ok := bytes.Cut(text, []byte("====== ")) // text may stand before it
	name, ends := bytes.CutSuffix(bytes.TrimRight(rest, "*`_| "), []byte(" ======"))
	if !ok || !ends || bytes.ContainsAny(before, "=\"{") || len(before) > 100 {
		return false
	}
	if p.named != "" {
		p.Aside(p.titled, p.named)
	}
	p.named, p.titled = string(name), p.Number() // it counts only if a report follows: people write such lines too
	return true
}

// progress reads "SET: rps=77510.0 (overall: 77513.9) avg_msec=0.161 (overall: 0.162)".
// The first progress line of a test is left out: the tool divides by the time since the last line of the test
// before.
func (p *parser) progress(text []byte) error {
	at := bytes.LastIndex(text, []byte(": rps="))
	if at < 0 {
		p.Strange(text)
		return nil
	}
	c := format.Cursor{B: text, I: at}
	c.Lit(": rps=")
	v := report{Line: p.Number(), Rate: number(&c)}
	c.Lit(" (overall: ")
	v.Overall = number(&c)
	c.Lit(") avg_msec=")
	v.Latency = number(&c).NonZero().Over(milli)
	c.Lit(" (overall: ")
	number(&c)
	c.Lit(")")
	if c.Bad || c.I != len(text) {
		p.Strange(text)
		return nil
	}
	r := p.start(string(text[:at]))
	r.End = v.Line
	if r.ticks++; r.ticks == 1 {
		return nil
	}
	r.Reports++
	if v.Run = len(p.log.Runs) - 1; p.each == nil {
		return nil
	}
	return p.each(v)
}

// number reads a number, nan or inf.
func number(c *format.Cursor) format.Num {
	if c.Try("inf") || c.Try("-inf") {
		return format.Num{}
	}
	return c.OrNaN()
}

// quiet reads the line of -q: "SET: 34965.04 requests per second, p50=0.159 msec",
// before 6.2 without the median.
func (p *parser) quiet(text []byte) bool {
	at := bytes.LastIndex(text, []byte(" requests per second"))
	if at < 0 {
		return false
	}
	colon := bytes.LastIndex(text[:at], []byte(": "))
	if colon < 0 || bytes.HasPrefix(text, []byte("throughput summary: ")) {
		return false
	}
	c := format.Cursor{B: text, I: colon + 2}
	rate := number(&c)
	c.Lit(" requests per second")
	median := format.Num{}
	if c.Try(", p50=") {
		median = number(&c).NonZero().Over(milli)
		c.Lit(" msec")
	}
	if c.Bad || c.I != len(text) {
		return false
	}
	r := p.start(string(text[:colon]))
	if p.setRate(r, rate); median.Known() {
		r.Latency = &latency{P50: median}
	}
	r.Complete = true
	p.end()
	return true
}

// setRate sets the throughput of a test.
func (p *parser) setRate(r *run, x format.Num) {
	if !x.NonZero().Known() {
		p.Add(p.Number(), noThroughput(r.Test), moreRequests)
	}
	r.Rate = x.NonZero()
}

// failures are beginnings of lines after which the tool ends.
var failures = []string{"Could not connect to ", "Error from server", "Error: ", "ERROR: ", "Node ", "All clients disconnected", "NOAUTH ", "Writing to socket: "}

func (p *parser) failure(text []byte) bool {
	for _, begin := range failures {
		if bytes.HasPrefix(text, []byte(begin)) {
			p.log.Failures.Fail(p.Number(), text)
			return true
		}
	}
	return false
}
