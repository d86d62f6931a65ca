package pgbench

import (
	"bytes"
	"io"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// parser is the state between lines.
type parser struct {
	format.Scan
	each func(progress) error
	log  content

	run     *run
	last    float64 // time of the progress line before
	summary bool    // the run's summary has begun
	banner  bool    // the log has the beginning of the run
}

// parse reads the runs in r. It calls each, if not nil, with every progress line in order, and stops when each
// returns an error. It returns what it read also with an error. Input without output of pgbench is an error.
func parse(r io.Reader, each func(progress) error) (*content, error) {
	p := &parser{Scan: format.NewScan(r, declared), each: each}
	err := p.Each(p.any)
	p.end()
	p.log.Warnings = p.Doubts()
	if err == nil && len(p.log.Runs) == 0 {
		err = p.Nothing(Program)
	}
	return &p.log, err
}

// any reads a line.
func (p *parser) any(line []byte) error {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return nil
	}
	if bytes.HasPrefix(text, []byte("progress: ")) {
		if done, err := p.progress(text); done || err != nil {
			return err
		}
		if whole := p.Mended(isProgress); whole != nil {
			p.Doubt(brokenLines, record.Said{})
			_, err := p.progress(bytes.Clone(whole))
			return err
		}
		if !p.Torn() {
			p.Doubt(impossibleLine, lookAtLog)
		}
	}
	switch {
	case p.Torn() && !whole(text):
		p.NoEnd()
	case !p.line(text):
		p.Strange(line)
	case p.summary:
		p.Undefined(text)
	}
	return nil
}

// isProgress reports that a line is exactly one progress line.
func isProgress(text []byte) bool {
	var v progress
	end := v.read(text)
	return end > 0 && end == len(text)
}

// whole reports whether a line without a line end is complete.
func whole(text []byte) bool {
	return bytes.HasSuffix(text, []byte(" ms")) || bytes.HasSuffix(text, []byte("%)")) ||
		bytes.HasPrefix(text, []byte("tps = ")) && bytes.HasSuffix(text, []byte(")"))
}

// start begins a run. banner says that the log has its beginning.
func (p *parser) start(banner bool) {
	p.end()
	n := p.Number()
	p.log.Runs = append(p.log.Runs, run{Line: n, End: n})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	p.summary, p.banner = false, banner
}

// need returns the current run, and begins one if there is none.
func (p *parser) need() *run {
	if p.run == nil {
		p.start(false)
	}
	p.run.End = p.Number()
	return p.run
}

// end ends the run and warns about what is missing.
func (p *parser) end() {
	r := p.run
	p.run = nil
	if r == nil || r.Complete() || r.Failures.Count > 0 {
		return
	}
	if p.banner || p.summary {
		p.Add(r.End, noSummary(r.Line), stoppedOrCut)
	}
}

// progress reads a progress line of -P; false: it is none.
func (p *parser) progress(text []byte) (bool, error) {
	var v progress
	n := p.Number()
	end := v.read(text)
	if end == 0 {
		point, changed := format.Commas(text)
		if end = v.read(point); !changed || end == 0 {
			return false, nil
		}
		text = point
		p.Comma()
	}
	if p.Torn() && end == len(text) && !bytes.HasSuffix(text, []byte("ms")) && !bytes.HasSuffix(text, []byte("ed")) && !bytes.HasSuffix(text, []byte("retries")) && !three(text) {
		p.Doubt(cutNumber, stillWritten)
		return true, nil
	}
	switch {
	case p.run == nil || p.summary:
		p.start(false)
	case p.run.Intervals > 0 && v.Time < p.last:
		p.Add(n, timeGoesBack(p.last, v.Time), fileEach)
		p.start(false)
	}
	return true, p.add(v)
}

// add adds the progress line to the run and calls each.
func (p *parser) add(v progress) error {
	r := p.need()
	switch {
	case r.Intervals > 0:
		v.Length = format.Some(v.Time - p.last).NonZero()
	case p.banner && v.Time <= 1e9: // no time of day
		v.Length = format.Some(v.Time).NonZero()
	}
	r.Intervals++
	v.Line, v.Run = p.Number(), len(p.log.Runs)-1
	p.last = v.Time
	if p.each == nil {
		return nil
	}
	return p.each(v)
}

// three reports that the text ends with a number with three decimals.
func three(text []byte) bool {
	i := bytes.LastIndexByte(text, '.')
	return i >= 0 && len(text)-i == 4
}

// read reads "progress: 1.1 s, 62.0 tps, lat 14.871 ms stddev 38.904, 0 failed, lag 8.146 ms, 28 skipped, 188
// retried, 333 retries" and returns its length; 0: the line is another.
func (v *progress) read(text []byte) int {
	*v = progress{}
	c := format.Cursor{B: text}
	c.Lit("progress: ")
	v.Time = c.Num()
	c.Lit(" s, ")
	v.TPS = c.Some()
	c.Lit(" tps, lat ")
	latency := c.OrNaN()
	c.Lit(" ms stddev ")
	c.OrNaN()
	if c.Bad {
		return 0
	}
	if !v.TPS.Is(0) {
		v.Latency = latency.NonZero().Over(milli)
	}
	for c.Try(", ") {
		if c.Try("lag ") {
			c.OrNaN()
			c.Lit(" ms")
			continue
		}
		c.Num()
		c.Bad = c.Bad || !c.Try(" failed") && !c.Try(" skipped") && !c.Try(" retried") && !c.Try(" retries")
	}
	if c.Bad {
		return 0
	}
	return c.I
}
