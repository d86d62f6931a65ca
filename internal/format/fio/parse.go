package fio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

const maxMessages = 20

// parser is the state between lines.
type parser struct {
	lines   *format.Lines
	each    func(Run) error
	log     Log
	warn    format.Warnings
	foreign format.Foreign

	pending  *Run // complete, until it is known whether it was interim
	text     *textRun
	terse    *Run
	fields   [][]byte // of the terse line of now
	version  string   // of the last line that is nothing but a version
	messages []format.Warning
}

// Parse reads everything in r: JSON documents, text and terse lines, also mixed
// and with anything between them. each, if not nil, gets every report in order,
// interim ones too; an error of its own ends the reading and is returned. What
// was read is returned also with an error. Input without a report is an error.
func Parse(r io.Reader, each func(Run) error) (*Log, error) {
	p := &parser{lines: format.NewLines(r), each: each, foreign: format.Foreign{Own: format.Fio}}
	err := p.all()
	if err == nil {
		err = p.lines.Err()
	}
	if e := p.finish(); err == nil {
		err = e
	}
	p.log.Warnings = p.lines.Doubts(&p.warn)
	if err == nil && len(p.log.Runs) == 0 {
		err = p.nothing()
	}
	return &p.log, err
}

// nothing says why there is no report: fio's own words if it left some.
func (p *parser) nothing() error {
	if p.foreign.First != "" {
		return format.Nothing("fio", p.lines.Number(), p.foreign.First, p.foreign.Line)
	}
	if len(p.messages) > 0 {
		m := p.messages[0]
		return &format.Error{Line: m.Line, Text: "fio made no report; it said: " + m.Text}
	}
	for _, w := range p.warn.List() {
		if w.Line > 0 {
			return &format.Error{Line: w.Line, Text: w.Text, Remedy: w.Remedy}
		}
	}
	return format.Nothing("fio", p.lines.Number(), "", 0)
}

func (p *parser) all() error {
	for p.lines.Next() {
		if err := p.line(p.lines.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) line(line []byte) error {
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0:
		return nil
	case format.Begins(line):
		return p.document()
	case p.message(text):
		return nil
	case len(text) > 2 && text[1] == ';' && text[0] >= '2' && text[0] <= '5':
		if err := p.closeText(); err != nil {
			return err
		}
		return p.terseLine(text)
	}
	return p.textLine(line, text)
}

// document reads a JSON document.
func (p *parser) document() error {
	d, err := p.lines.Document()
	if err != nil {
		return err
	}
	r, undefined, err := decode(d)
	var wrong *format.Error
	switch {
	case errors.Is(err, errNotFio):
		p.warn.Once(d.Line, "JSON that is not fio's was left out", "")
		return nil
	case errors.As(err, &wrong):
		p.warn.Add(wrong.Line, wrong.Text, wrong.Remedy)
		return nil
	case err != nil:
		return err
	}
	if undefined {
		p.warn.Once(d.Line, "fio wrote nan or inf where nothing was measured; these figures are missing", "")
	}
	if err := p.closeText(); err != nil {
		return err
	}
	return p.add(r)
}

// message keeps fio's complaints.
func (p *parser) message(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("fio: ")) {
		return false
	}
	if len(p.messages) < maxMessages && !bytes.Contains(text, []byte("verification read phase")) {
		p.messages = append(p.messages, format.Warning{Line: p.lines.Number(), Text: string(text[:min(len(text), 300)])})
	}
	return true
}

// add takes a finished report.
func (p *parser) add(r *Run) error {
	if v := r.Version; v != "" && !strings.HasPrefix(v, "2.") && !strings.HasPrefix(v, "3.") {
		p.warn.Once(r.Line, "fio "+v+" is not a version that is known; it was read like 3.42", "check the figures against the report")
	}
	r.Messages = slices.Concat(r.Messages, p.messages)
	p.messages = nil
	if last := p.pending; last != nil {
		switch {
		case twice(last, r):
			p.warn.Once(r.Line, "the same run is there as text and as JSON; the JSON is used", "")
			return nil
		case goesOn(last, r):
			last.Interim = true
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	p.pending = r
	return nil
}

// flush hands the waiting report out.
func (p *parser) flush() error {
	r := p.pending
	if r == nil {
		return nil
	}
	p.pending = nil
	if r.Interim {
		p.log.Interim++
	} else {
		p.log.Runs = append(p.log.Runs, *r)
	}
	if p.each == nil {
		return nil
	}
	return p.each(*r)
}

// finish closes what is open at the end of the input.
func (p *parser) finish() error {
	if err := p.closeText(); err != nil {
		return err
	}
	if p.pending != nil && len(p.messages) > 0 {
		p.pending.Messages = slices.Concat(p.pending.Messages, p.messages)
		p.messages = nil
	}
	return p.flush()
}

// closeText ends an open text or terse report.
func (p *parser) closeText() error {
	if t := p.terse; t != nil {
		p.terse = nil
		return p.add(t)
	}
	t := p.text
	p.text = nil
	if t == nil || len(t.run.Jobs) == 0 {
		return nil
	}
	if !t.status {
		p.warn.Add(t.run.Jobs[len(t.run.Jobs)-1].Line, "the text report ends before its group status",
			"fio was stopped or the file is cut; the last job may be incomplete")
		t.run.cut = true
	}
	return p.add(&t.run)
}

// twice says that b is the text of the run whose JSON is a: so fio writes them
// with --output-format=normal,json. Of a text that is cut, what is there of it.
func twice(a, b *Run) bool {
	if a.Form != "json" || b.Form != "text" || len(b.Jobs) > len(a.Jobs) || a.Version != b.Version && b.Version != "" {
		return false
	}
	for i := range b.Jobs {
		x, y := a.Jobs[i].ios(), b.Jobs[i].ios()
		if a.Jobs[i].Name != b.Jobs[i].Name || x != y && !b.cut {
			return false
		}
	}
	return b.cut || len(a.Jobs) == len(b.Jobs)
}

// ios is the number of I/Os of all directions.
func (j *Job) ios() float64 {
	sum := 0.0
	for _, d := range []*Direction{j.Read, j.Write, j.Trim, j.Mixed} {
		if d != nil {
			n, _ := d.Total.Get()
			sum += n
		}
	}
	return sum
}

// goesOn says that b is a later report of the run that a reports on: the same
// jobs, nothing less, and as much more time on the clock as in the jobs. Text
// tells it by the process numbers.
func goesOn(a, b *Run) bool {
	if a.Form != b.Form || a.Version != b.Version || len(a.Jobs) == 0 || len(a.Jobs) != len(b.Jobs) {
		return false
	}
	for i := range a.Jobs {
		x, y := &a.Jobs[i], &b.Jobs[i]
		if x.Name != y.Name || x.Group != y.Group || x.ios() > y.ios() || a.Form == "text" && (x.PID == 0 || x.PID != y.PID) {
			return false
		}
	}
	if a.Form != "json" {
		return a.Form == "text"
	}
	if a.Time.IsZero() || b.Time.IsZero() {
		return false
	}
	clock, before, after := b.Time.Sub(a.Time).Seconds(), a.Jobs[0].longest(), b.Jobs[0].longest()
	return clock >= 0 && math.Abs(after-before-clock) < 1.6 && after-clock > before/2
}

// longest is the longest runtime of the job's directions in seconds.
func (j *Job) longest() float64 {
	out := 0.0
	for _, d := range []*Direction{j.Read, j.Write, j.Trim, j.Mixed} {
		if d != nil {
			t, _ := d.Runtime.Get()
			out = max(out, t)
		}
	}
	return out
}
