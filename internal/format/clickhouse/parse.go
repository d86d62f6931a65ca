package clickhouse

import (
	"bytes"
	"io"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/format"
)

const (
	mebi        = 1 << 20
	maxFailures = 20
)

// parser is the state between lines.
type parser struct {
	lines   *format.Lines
	each    func(Report) error
	log     Log
	warn    format.Warnings
	foreign format.Foreign

	run      *Run
	now      *Report // of the lines that follow; nil before the first of a run
	executed float64 // by the report before
	shortest float64 // query of the reports before, seconds
}

// Parse reads everything in r. each, if not nil, gets the reports before the
// last one of every run, in order; an error of its own ends the reading and is
// returned. What was read is returned also with an error. Input without a
// report is an error.
func Parse(r io.Reader, each func(Report) error) (*Log, error) {
	p := &parser{lines: format.NewLines(r), each: each, foreign: format.Foreign{Own: format.ClickHouse}}
	err := p.all()
	if err == nil {
		err = p.lines.Err()
	}
	p.end()
	p.log.Warnings = p.lines.Doubts(&p.warn)
	if err == nil && !slices.ContainsFunc(p.log.Runs, func(r Run) bool { return r.Total != nil }) {
		err = p.nothing()
	}
	return &p.log, err
}

// nothing says why there is no report: the tool's own words if it left some.
func (p *parser) nothing() error {
	for _, r := range p.log.Runs {
		if len(r.Failures) > 0 {
			return &format.Error{Line: r.Failures[0].Line, Text: "no report; the tool said: " + r.Failures[0].Text}
		}
	}
	for _, w := range p.warn.List() {
		if w.Line > 0 && p.foreign.First == "" {
			return &format.Error{Line: w.Line, Text: w.Text, Remedy: w.Remedy}
		}
	}
	if len(p.log.Runs) > 0 {
		return &format.Error{Line: p.log.Runs[0].Line, Text: "the run that begins here has no report",
			Remedy: "it was stopped before the first one, or the file is cut"}
	}
	return format.Nothing("clickhouse-benchmark", p.lines.Number(), p.foreign.First, p.foreign.Line)
}

func (p *parser) all() error {
	for p.lines.Next() {
		line := p.lines.Bytes()
		if format.Begins(line) {
			if err := p.document(); err != nil {
				return err
			}
			continue
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := p.line(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// line takes a line of the text form.
func (p *parser) line(text []byte) error {
	torn := p.lines.Torn()
	switch {
	case bytes.HasPrefix(text, []byte("Loaded ")) && bytes.HasSuffix(text, []byte(" queries.")):
		p.start()
		p.run.Loaded = format.Leading(text[len("Loaded "):])
	case bytes.HasPrefix(text, []byte("Queries executed: ")) && !torn:
		return p.report(format.Leading(text[len("Queries executed: "):]))
	case bytes.HasPrefix(text, []byte("Concurrency: ")) && p.now != nil:
		p.now.Concurrency = format.Leading(text[len("Concurrency: "):])
	case bytes.Contains(text, []byte("QPS: ")) && bytes.Contains(text, []byte(", RPS: ")):
		p.server(text)
	case p.now != nil && p.percentile(text):
	case bytes.HasPrefix(text, []byte("Stopping launch of queries.")):
		p.stopped(text)
	case bytes.HasPrefix(text, []byte("Code: ")), bytes.HasPrefix(text, []byte("An error occurred while processing")):
		p.failure(text)
	default:
		p.foreign.Look(text, p.lines.Number(), &p.warn)
	}
	return nil
}

// start begins a run.
func (p *parser) start() {
	p.end()
	p.log.Runs = append(p.log.Runs, Run{Line: p.lines.Number(), Form: "text"})
	p.run = &p.log.Runs[len(p.log.Runs)-1]
	p.now, p.executed, p.shortest = nil, 0, math.Inf(1)
}

// report begins a report. The one before was not the last.
func (p *parser) report(executed format.Num) error {
	n, ok := executed.Get()
	if !ok {
		return nil
	}
	if p.run == nil || p.run.Form == "json" {
		p.start()
	}
	if p.now != nil && p.now.Executed.Known() && n < executedBy(p.now) {
		p.warn.Add(p.lines.Number(), "fewer queries than in the report before: taken as another run", "give each run a file of its own")
		p.start()
	}
	if err := p.interim(); err != nil {
		return err
	}
	p.now = &Report{Line: p.lines.Number(), Run: len(p.log.Runs) - 1, Executed: executed}
	return nil
}

func executedBy(r *Report) float64 {
	n, _ := r.Executed.Get()
	return n
}

// interim hands out the report that turned out not to be the last.
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
	if p.each == nil {
		return nil
	}
	return p.each(*r)
}

// end closes a run: its last report is the total, if it is one.
func (p *parser) end() {
	r := p.run
	p.run = nil
	if r == nil || r.Form == "json" || p.now == nil || len(p.now.Servers) == 0 {
		return
	}
	r.Total = p.now
	p.now = nil
	r.Complete = p.complete(r)
	if !r.Complete {
		p.warn.Add(r.Total.Line, "the report of the whole run is missing: the last one is of an interval", "the run was stopped or the file is cut")
	}
	if r.Era == "19.x" || r.Era == "20 to 23.7" {
		p.warn.Once(r.Total.Line, "clickhouse-benchmark before 23.8 computes QPS from the query times and not from the clock",
			"compare only runs of the same version, or divide the queries by the run's duration")
	}
}

// complete says whether the last report is of the whole run.
func (p *parser) complete(r *Run) bool {
	if slices.ContainsFunc(r.Total.Servers, func(s Server) bool { return !format.At(s.Quantiles, 0.9999).Known() }) {
		p.warn.Add(r.Total.Line, "the percentiles of the last report are not complete", "the file is cut")
	}
	if whole, known := r.Total.whole(); known {
		return whole
	}
	return p.spansRun(r)
}

// spansRun decides for eras that print no number of queries in a report. A tool
// that said why it stops has printed its total. Without that, a report of the
// whole run has the shortest query of all; if this one has, it may be.
func (p *parser) spansRun(r *Run) bool {
	if r.Stopped != "" || r.Reports == 0 {
		return true
	}
	shortest, ok := format.At(r.Total.Servers[0].Quantiles, 0).Get()
	if ok && shortest > p.shortest+0.0005 {
		return false
	}
	r.Unsure = true
	p.warn.Add(r.Total.Line, "whether the last report is of the whole run or of an interval cannot be told", "run the tool with -d 0 or keep what it writes to stdout")
	return true
}

func (p *parser) stopped(text []byte) {
	if p.run == nil {
		return
	}
	p.run.Stopped = "time limit"
	if bytes.Contains(text, []byte("SIGINT")) {
		p.run.Stopped = "interrupted"
	}
}

func (p *parser) failure(text []byte) {
	n := p.lines.Number()
	if p.run == nil || p.run.Form == "json" {
		p.start()
	}
	p.run.FailureCount++
	if len(p.run.Failures) < maxFailures {
		p.run.Failures = append(p.run.Failures, format.Warning{Line: n, Text: string(bytes.ToValidUTF8(text[:min(len(text), 300)], []byte("?")))})
	}
}
