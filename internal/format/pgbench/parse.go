package pgbench

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/format"
)

const (
	maxFailures   = 20
	maxStatements = 1000
)

// parser is the state between lines.
type parser struct {
	lines   *format.Lines
	each    func(Progress) error
	log     Log
	warn    format.Warnings
	foreign format.Foreign

	run     *Run
	last    Progress
	columns int  // numbers before a statement; 0 outside of the statements
	summary bool // the run's summary has begun
	banner  bool // the run's beginning is in the log
}

// Parse reads everything in r. each, if not nil, gets the progress lines in
// order; an error of its own ends the reading and is returned. What was read is
// returned also with an error. Input without anything of pgbench is an error.
func Parse(r io.Reader, each func(Progress) error) (*Log, error) {
	p := &parser{lines: format.NewLines(r), each: each, foreign: format.Foreign{Own: format.PgBench}}
	err := p.all()
	if err == nil {
		err = p.lines.Err()
	}
	p.end()
	p.log.Warnings = p.lines.Doubts(&p.warn)
	if err == nil && len(p.log.Runs) == 0 {
		err = format.Nothing("pgbench", p.lines.Number(), p.foreign.First, p.foreign.Line)
	}
	return &p.log, err
}

func (p *parser) all() error {
	for p.lines.Next() {
		line := p.lines.Bytes()
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		if i := bytes.Index(line, []byte("progress: ")); i >= 0 {
			if done, err := p.progress(line[i:]); err != nil {
				return err
			} else if done {
				continue
			}
		}
		if p.lines.Torn() && !whole(text) {
			p.warn.Once(p.lines.Number(), "the last line has no end and was left out", "")
			continue
		}
		if !p.line(line, text) {
			p.foreign.Look(line, p.lines.Number(), &p.warn)
		}
	}
	return nil
}

// whole says whether a line without end ends where pgbench ends its lines.
func whole(text []byte) bool {
	return bytes.HasSuffix(text, []byte(" ms")) || bytes.HasSuffix(text, []byte("%)")) ||
		bytes.HasPrefix(text, []byte("tps = ")) && bytes.HasSuffix(text, []byte(")"))
}

// start begins a run; banner says that its beginning is in the log.
func (p *parser) start(banner bool) {
	p.end()
	n := p.lines.Number()
	p.log.Runs = append(p.log.Runs, Run{Line: n, End: n})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	p.last, p.columns, p.summary, p.banner = Progress{}, 0, false, banner
}

// need begins a run if there is none that the line could belong to.
func (p *parser) need() *Run {
	if p.run == nil {
		p.start(false)
	}
	p.run.End = p.lines.Number()
	return p.run
}

// end says what is missing from the run that ends.
func (p *parser) end() {
	r := p.run
	p.run = nil
	if r == nil || r.Complete() || len(r.Failures) > 0 {
		return
	}
	if p.banner || p.summary {
		p.warn.Add(r.End, fmt.Sprintf("the summary of the run that begins in line %d is missing or incomplete", r.Line),
			"the run was stopped or the log is cut; only its progress lines count")
	}
}

// progress reads a line of -P.
func (p *parser) progress(text []byte) (bool, error) {
	var v Progress
	n := p.lines.Number()
	end := v.read(text)
	if end == 0 {
		point, changed := format.Commas(text)
		if end = v.read(point); !changed || end == 0 {
			return false, nil
		}
		text = point
		p.warn.Once(n, "numbers with a decimal comma were read as if it were a point", "check that they are not thousands separators")
	}
	if p.lines.Torn() && end == len(text) && !bytes.HasSuffix(text, []byte("ms")) && !bytes.HasSuffix(text, []byte("ed")) && !bytes.HasSuffix(text, []byte("retries")) && !three(text) {
		p.warn.Once(n, "the last line is cut off inside a number; it was left out", "the log was cut or is still being written")
		return true, nil
	}
	switch {
	case p.run == nil || p.summary:
		p.start(false)
	case p.run.Intervals > 0 && v.Time < p.last.Time:
		p.warn.Add(n, fmt.Sprintf("the time goes back from %g s to %g s: taken as another run", p.last.Time, v.Time), "give each run a file of its own")
		p.start(false)
	}
	return true, p.hand(v)
}

// hand makes the progress line part of the run and hands it out.
func (p *parser) hand(v Progress) error {
	r := p.need()
	switch {
	case r.Intervals > 0:
		v.Length = format.Some(v.Time - p.last.Time).Positive()
	case p.banner && !v.Clock:
		v.Length = format.Some(v.Time).Positive()
	}
	r.Intervals++
	v.Line, v.Run = p.lines.Number(), len(p.log.Runs)-1
	p.last = v
	if p.each == nil {
		return nil
	}
	return p.each(v)
}

// three says that the text ends in a number with three decimals.
func three(text []byte) bool {
	i := bytes.LastIndexByte(text, '.')
	return i >= 0 && len(text)-i == 4
}

// read reads "progress: 1.1 s, 62.0 tps, lat 14.871 ms stddev 38.904, 0 failed,
// lag 8.146 ms, 28 skipped, 188 retried, 333 retries" and returns how long it
// is; 0 if it is none.
func (v *Progress) read(text []byte) int {
	*v = Progress{}
	c := cursor{b: text}
	c.lit("progress: ")
	v.Time = c.num()
	c.lit(" s, ")
	v.TPS = format.Some(c.num())
	c.lit(" tps, lat ")
	latency := c.orNaN()
	c.lit(" ms stddev ")
	stddev := c.orNaN()
	if c.bad {
		return 0
	}
	v.Clock = v.Time > 1e9
	if x, ok := latency.Get(); ok && x > 0 && !v.TPS.Is(0) {
		v.Latency, v.StdDev = latency.Over(milli), stddev.Over(milli)
	}
	for c.try(", ") {
		if c.try("lag ") {
			lag := c.orNaN()
			c.lit(" ms")
			v.Lag = lag.Over(milli)
		} else if !v.count(&c) {
			return 0
		}
	}
	if c.bad {
		return 0
	}
	return c.i
}

// count reads "28 skipped" and its like.
func (v *Progress) count(c *cursor) bool {
	x := format.Some(c.num())
	switch {
	case c.try(" failed"):
		v.Failed = x
	case c.try(" skipped"):
		v.Skipped = x
	case c.try(" retried"):
		v.Retried = x
	case c.try(" retries"):
		v.Retries = x
	default:
		return false
	}
	return !c.bad
}
