package clickhouse

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/logs/format"
)

// parser is the state between lines.
type parser struct {
	format.Scan
	each func(report) error
	log  content

	run      *run
	now      *report // the current report; nil: none yet
	executed float64 // queries in the report before
	shortest float64 // shortest query of the reports before, in seconds
}

// parse reads the runs in r. It calls each, if not nil, with every report but the last of a run, in order, and
// stops when each returns an error. It returns what it read also with an error. Input without a report is an
// error.
func parse(r io.Reader, each func(report) error) (*content, error) {
	p := &parser{Scan: format.NewScan(r, declared), each: each}
	err := p.Each(p.any)
	p.end()
	p.log.Warnings = p.Doubts()
	if err == nil && !slices.ContainsFunc(p.log.Runs, func(r run) bool { return r.Total != nil }) {
		err = p.nothing()
	}
	return &p.log, err
}

// nothing is the error about input without a report. It quotes the tool's error if there is one.
func (p *parser) nothing() error {
	for _, r := range p.log.Runs {
		if f := r.Failures; f.Count > 0 {
			return &format.Error{Line: f.First.Line, Text: toolSaid(f.First.Text)}
		}
	}
	err := p.Why()
	if len(p.log.Runs) > 0 && len(p.log.Warnings) == 0 {
		err = &format.Error{Line: p.log.Runs[0].Line, Text: noReport, Remedy: stoppedSoon}
	}
	return err
}

// any reads a line of JSON or text.
func (p *parser) any(line []byte) error {
	if format.BeginsJSON(line) {
		return p.document()
	}
	if text := bytes.TrimSpace(line); len(text) > 0 {
		return p.line(text)
	}
	return nil
}

// line reads a line of text.
func (p *parser) line(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("Loaded ")) && bytes.HasSuffix(text, []byte(" queries.")):
		p.start()
		p.run.Loaded = format.Leading(text[len("Loaded "):])
	case bytes.HasPrefix(text, []byte("Queries executed: ")) && !p.Torn():
		return p.report(format.Leading(text[len("Queries executed: "):]))
	case bytes.HasPrefix(text, []byte("Concurrency: ")) && p.now != nil:
		p.now.Concurrency = format.Leading(text[len("Concurrency: "):])
	case bytes.Contains(text, []byte("QPS: ")) && bytes.Contains(text, []byte(", RPS: ")):
		p.server(text)
	case p.now != nil && p.percentile(text):
	case bytes.HasPrefix(text, []byte("Stopping launch of queries.")):
		if p.run != nil {
			p.run.stopped = true
		}
	case bytes.HasPrefix(text, []byte("Code: ")), bytes.HasPrefix(text, []byte("An error occurred while processing")):
		p.need()
		p.run.Failures.Fail(p.Number(), text)
	default:
		p.Strange(text)
	}
	return nil
}

// start begins a run.
func (p *parser) start() {
	p.end()
	p.log.Runs = append(p.log.Runs, run{Line: p.Number()})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	p.now, p.executed, p.shortest = nil, 0, math.Inf(1)
}

// need begins a run if there is none to which the line could belong.
func (p *parser) need() {
	if p.run == nil || p.run.json {
		p.start()
	}
}

// report begins a report, so the one before was not the last.
func (p *parser) report(executed format.Num) error {
	n, ok := executed.Get()
	if !ok {
		return nil
	}
	p.need()
	if now := p.now; now != nil && now.Executed.Known() && (n < executedBy(now) || n == executedBy(now) && p.total()) {
		text := fewerQueries
		if n == executedBy(now) {
			text = asManyQueries
		}
		p.Add(p.Number(), text, fileEach)
		p.start()
	}
	if err := p.interim(); err != nil {
		return err
	}
	p.now = &report{Line: p.Number(), Run: len(p.log.Runs) - 1, Executed: executed}
	return nil
}

// total reports that the current report can be the total of a run: it is the first, it counts every query, and
// the tool did not print that it stops.
func (p *parser) total() bool {
	whole, known := p.now.whole()
	return whole && known && p.run.Reports == 0 && !p.run.stopped && format.At(p.now.Servers[0].Quantiles, 0.9999).Known()
}

// executedBy returns the number of queries in a report; 0: not known.
func executedBy(r *report) float64 {
	n, _ := r.Executed.Get()
	return n
}

// interim handles a report that turned out not to be the last: it calls each.
func (p *parser) interim() error {
	r := p.now
	if r == nil {
		return nil
	}
	executed := executedBy(r)
	if len(r.Servers) > 0 {
		whole, known := r.whole()
		p.run.Cumulative = p.run.Cumulative || known && whole && p.executed > 0 && executed > p.executed
		if x, ok := format.At(r.Servers[0].Quantiles, 0).Get(); ok {
			p.shortest = min(p.shortest, x)
		}
	}
	p.executed = executed
	if len(r.Servers) == 0 {
		return nil // nothing finished in this interval
	}
	p.run.Reports++
	r.own = p.run.ownTimes()
	if p.each == nil {
		return nil
	}
	return p.each(*r)
}

// end ends a run. Its last report is the total.
func (p *parser) end() {
	r := p.run
	p.run = nil
	if r == nil || r.json || p.now == nil || len(p.now.Servers) == 0 {
		return
	}
	r.Total = p.now
	r.Total.own = r.ownTimes()
	p.now = nil
	r.Complete = p.complete(r)
	if !r.Complete {
		p.Add(r.Total.Line, noTotal, stoppedOrCut)
	}
	if r.ownTimes() {
		p.Once(r.Total.Line, ratesOfTimes, sameVersion)
	}
}

// complete reports whether the last report covers the whole run.
func (p *parser) complete(r *run) bool {
	if slices.ContainsFunc(r.Total.Servers, func(s serverTotal) bool { return !format.At(s.Quantiles, 0.9999).Known() }) {
		p.Add(r.Total.Line, fewPercentiles, fileCut)
	}
	if whole, known := r.Total.whole(); known {
		return whole
	}
	return p.spansRun(r)
}

// spansRun is complete for versions whose reports have no number of queries. A tool that printed why it stops
// also printed the total. Otherwise the total must have the shortest query of all reports.
func (p *parser) spansRun(r *run) bool {
	if r.stopped || r.Reports == 0 {
		return true
	}
	shortest, ok := format.At(r.Total.Servers[0].Quantiles, 0).Get()
	if ok && shortest > p.shortest+0.0005 {
		return false
	}
	p.Add(r.Total.Line, maybeInterval, keepStdout)
	return true
}
