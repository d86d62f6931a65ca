package sysbench

import (
	"bytes"
	"io"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// parser is the state between lines.
type parser struct {
	format.Scan
	each func(Interval) error
	log  Log

	run      *Run // the last of log.Runs; nil before the first
	reported int  // line of the last report
	begun    bool // the log has the beginning of the run
	closed   bool // the summary is complete: a report line begins another run
	summary  bool // the summary has begun
	section  section
	// scratch gets the summary of a checkpoint, which does not count.
	scratch *Run

	version string // of a banner above a run
	banner  int    // its line
	head    bool   // between the first line of options and the first report
}

// Parse reads the runs in r. It calls each, if not nil, with every report line in order, and stops when each
// returns an error. It returns what it read also with an error. Input without output of sysbench is an
// error.
func Parse(r io.Reader, each func(Interval) error) (*Log, error) {
	p := &parser{Scan: format.NewScan(r, declared), each: each}
	err := p.Each(p.line)
	p.end()
	p.log.Warnings = p.Doubts()
	if err == nil && len(p.log.Runs) == 0 {
		err = p.Nothing(Program)
	}
	return &p.log, err
}

// line reads a line. Most are report lines.
func (p *parser) line(line []byte) error {
	if len(line) > 0 && line[0] == '[' {
		var v Interval
		if ok, n := v.interval(line); ok && p.clean(line, n) {
			return p.report(v)
		}
	}
	return p.other(line)
}

// clean reports that no number continues behind the first n bytes, and that a line without a line end does
// not end inside of a number.
func (p *parser) clean(line []byte, n int) bool {
	if n < len(line) {
		c := line[n]
		if c-'0' <= 9 || c == '.' || c == ',' {
			return false
		}
	}
	if p.Torn() && !whole(line[:n]) && !bytes.Contains(line[:n], []byte("length: ")) {
		p.Doubt(cutNumber, stillWritten)
		return false
	}
	return true
}

// report adds one report line.
func (p *parser) report(v Interval) error {
	n := p.Number()
	p.reported = n
	if v.queue {
		if p.run != nil && p.run.Intervals > 0 && p.run.Last == v.Time {
			p.run.End = n
		}
		return nil
	}
	if v.Threads.Is(0) {
		p.Doubt(noThread, record.Said{})
		return nil
	}
	p.need()
	if !p.summary && p.run.Intervals > 0 && v.Time < p.run.Last {
		p.Add(n, timeGoesBack(p.run.Last, v.Time), fileEach)
		p.start(false)
	}
	if p.summary {
		p.after()
	}
	p.head = false
	p.count(&v)
	v.Run, v.Line = len(p.log.Runs)-1, n
	if p.each == nil {
		return nil
	}
	return p.each(v)
}

// count adds the report line to the run.
func (p *parser) count(v *Interval) {
	r := p.run
	if r.Intervals == 0 {
		r.First = v.Time
	}
	r.Intervals++
	r.Last = v.Time
	r.End = p.Number()
	r.test(kindOf(v))
}

// kindOf returns the test that prints such report lines; empty: not known.
func kindOf(v *Interval) string {
	switch {
	case v.Writes.Known():
		return "oltp"
	case v.ReadBytes.Known():
		return "fileio"
	case v.Transfer.Known():
		return "memory"
	}
	return ""
}

// test sets the test of the run, unless it is known.
func (r *Run) test(kind string) {
	if r.Test == "" && kind != "" {
		r.Test = kind
	}
}

// start begins a run. begun says that the log has its beginning.
func (p *parser) start(begun bool) {
	p.end()
	n := p.Number()
	p.log.Runs = append(p.log.Runs, Run{Line: n, End: n, Version: p.version})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	p.begun, p.closed, p.summary, p.scratch = begun, false, false, nil
	p.section, p.head = none, begun
	if p.banner > 0 && begun {
		p.run.Line = p.banner
	}
	p.version, p.banner = "", 0
}

// need begins a run if there is none to which the line could belong.
func (p *parser) need() {
	if p.run == nil || p.closed {
		p.start(false)
	}
}

// end ends the run and warns about what is missing.
func (p *parser) end() {
	r := p.run
	if r == nil {
		return
	}
	if p.begun && !r.Complete() && r.Failures.Count == 0 {
		p.Add(r.End, noSummary(r.Line), stoppedOrCut)
	}
	if r.Checkpoints > 0 && r.General != nil {
		p.Add(r.End, sinceCheckpoint, useReportLines)
	}
	p.run = nil
}

// after handles a report line behind a summary. Behind the summary of a checkpoint the run goes on; else
// another run begins, without its first lines.
func (p *parser) after() {
	if p.scratch != nil {
		p.scratch, p.summary, p.section = nil, false, none
		return
	}
	p.start(false)
}

// other reads a line that is no regular report line.
func (p *parser) other(line []byte) error {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		return nil
	}
	if p.Torn() {
		return p.torn(line, trimmed)
	}
	if p.readKnown(trimmed) {
		p.Undefined(trimmed)
		return nil
	}
	return p.rescue(line)
}

// torn reads a last line without a line end. Report lines, and lines of the summary with fixed decimals,
// show whether they are complete.
func (p *parser) torn(line, text []byte) error {
	if p.section != none && whole(text) && p.readKnown(text) {
		return nil
	}
	if err := p.rescue(line); err != nil {
		return err
	}
	if p.reported != p.Number() {
		p.NoEnd()
	}
	return nil
}

// isInterval reports that a line is exactly one report line.
func isInterval(line []byte) bool {
	var v Interval
	ok, end := v.interval(line)
	return ok && end == len(line) && whole(line)
}

// rescue reads report lines with decimal commas or with blanks before them, and broken ones.
func (p *parser) rescue(line []byte) error {
	text := bytes.TrimLeft(line, " \t")
	if len(text) == 0 || text[0] != '[' {
		if bytes.Contains(text, []byte("s ] thds: ")) || bytes.Contains(text, []byte("s] threads: ")) {
			p.Doubt(behindOther, takeAway)
		}
		p.Strange(line)
		return nil
	}
	var v Interval
	if ok, end := v.interval(text); ok && p.clean(text, end) {
		return p.report(v)
	}
	if point, changed := format.Commas(text); changed {
		v = Interval{}
		if ok, end := v.interval(point); ok && p.clean(point, end) {
			p.Comma()
			return p.report(v)
		}
	}
	if p.Ours(text) && isReport(text) {
		if whole := p.Mended(isInterval); whole != nil {
			p.Doubt(brokenLines, record.Said{})
			return p.line(whole)
		}
	}
	if p.Ours(text) {
		p.Add(p.Number(), unknownLine, checkLine(text[:min(len(text), 80)]))
	}
	return nil
}
