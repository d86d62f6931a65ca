package fio

import (
	"bytes"
	"io"
	"math"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// parser is the state between lines.
type parser struct {
	format.Scan
	log Log

	pending  *Run // a complete report, which may still turn out to be interim
	text     *textRun
	terse    *Run
	group    *Run                         // the status of a group without its jobs
	fields   [][]byte                     // of the current terse line
	version  string                       // of the last line with only a version, or of servers
	before   *textRun                     // the text report that was open when the first server was named
	heads    map[string]map[string]string // options by job, from the lines above a report
	reported bool                         // a report followed these lines
	expected int                          // number of processes and threads in fio's line "Starting ..."
	started  int                          // the same, until a report follows
	messages format.Failures
}

// Parse reads JSON documents, text reports and terse lines, also mixed and with other text between them.
// It returns what it read also with an error. Input without a report is an error.
func Parse(r io.Reader) (*Log, error) {
	p := &parser{Scan: format.NewScan(r, declared)}
	err := p.Each(p.line)
	p.closeText()
	if p.pending != nil {
		p.addMessages(p.pending)
	}
	p.flush()
	p.log.Warnings = p.Doubts()
	if err == nil && len(p.log.Runs) == 0 {
		err = p.Why()
		if m := p.messages; m.Count > 0 && p.Alone() { // fio printed why
			err = &format.Error{Line: m.First.Line, Text: onlySaid(m.First.Text)}
		} else if p.heads != nil && p.Alone() {
			err = &format.Error{Line: p.Number(), Text: noReport, Remedy: runToEnd}
		}
	}
	return &p.log, err
}

func (p *parser) line(line []byte) error {
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0:
	case format.BeginsJSON(line):
		return p.document()
	case bytes.HasPrefix(text, []byte("fio: ")) && !ofJobFio(text): // an error
		if !bytes.Contains(text, []byte("verification read phase")) {
			p.messages.Fail(p.Number(), text)
		}
	case len(text) > 2 && text[1] == ';' && text[0] >= '2' && text[0] <= '5':
		if p.text != nil {
			p.closeText()
		}
		p.terseLine(text)
	case line[0] != ' ' && p.head(text):
	default:
		p.textLine(line, text)
	}
	return nil
}

// ofJobFio reports whether a line that begins with "fio: " is about a job of that name and no message.
func ofJobFio(text []byte) bool {
	rest := text[len("fio: "):]
	return format.Begins(rest, "(g=") || format.Begins(rest, "(groupid=") || format.Begins(rest, "Laying out IO file")
}

// mostJobs bounds the jobs of a report; further jobs are another report.
const mostJobs = 4096

// head reads a line above a report with the options of a job: "test: (g=0): rw=randread, bs=(R)
// 4096B-4096B, (W) ..., ioengine=libaio, iodepth=16", which may have the name of a client in angle
// brackets before it.
func (p *parser) head(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, []byte("Starting ")); ok && (bytes.Contains(rest, []byte("process")) || bytes.Contains(rest, []byte("thread"))) {
		p.closeText()
		_, more, _ := bytes.Cut(rest, []byte(" and ")) // 1 thread and 3 processes
		p.expected = whole(rest) + whole(more)
		p.started = p.expected
		return true
	}
	name, rest, ok := bytes.Cut(text, []byte(": (g="))
	_, list, is := bytes.Cut(rest, []byte("): rw="))
	if !ok || !is {
		return false
	}
	if p.reported {
		p.closeText()
		p.heads, p.reported, p.expected = nil, false, 0
	}
	if p.heads == nil {
		p.heads = map[string]map[string]string{}
	}
	if i := bytes.Index(name, []byte("> ")); i > 0 && name[0] == '<' {
		name = name[i+2:]
	}
	o := make(map[string]string, 4)
	for key := "rw"; ; {
		end := bytes.Index(list, []byte("="))
		if end < 0 {
			o[key] = clean(list)
			break
		}
		comma := bytes.LastIndexByte(list[:end], ',')
		if comma < 0 {
			break
		}
		o[key], key = clean(list[:comma]), string(bytes.TrimSpace(list[comma+1:end]))
		list = list[end+1:]
	}
	if len(p.heads) < mostJobs {
		p.heads[string(name)] = o
	}
	return true
}

func clean(b []byte) string { return string(bytes.ToValidUTF8(bytes.TrimSpace(b), []byte("?"))) }

// optionsOf returns the options of a job from the lines above the report. The sum over clients has the
// options of the only job.
func (p *parser) optionsOf(name string) map[string]string {
	if o, ok := p.heads[name]; ok {
		return o
	}
	if name == allClients && len(p.heads) == 1 {
		for _, o := range p.heads {
			return o
		}
	}
	return nil
}

// document reads a JSON document.
func (p *parser) document() error {
	var d document
	line, err := p.JSON(&d)
	if line == 0 || err != nil {
		return err
	}
	r := d.run(line)
	if r == nil {
		p.NotOurs(line)
		return nil
	}
	p.closeText()
	p.add(r)
	return nil
}

// addMessages moves fio's error lines so far to a report.
func (p *parser) addMessages(r *Run) {
	if r.Messages.Count == 0 {
		r.Messages.First = p.messages.First
	}
	r.Messages.Count += p.messages.Count
	p.messages = format.Failures{}
}

// add adds a finished report. It becomes pending, because a later one may replace it.
func (p *parser) add(r *Run) {
	if v := r.Version; v != "" && !strings.HasPrefix(v, "2.") && !strings.HasPrefix(v, "3.") {
		p.Once(r.Line, unknownVersion(v), checkFigures)
	}
	p.addMessages(r)
	p.reported = true
	if last := p.pending; last != nil {
		switch {
		case twice(last, r):
			kept := last
			if forms[r.Form] > forms[last.Form] {
				kept = r
			}
			p.pending = kept
			p.Once(r.Line, twoForms(last.Form, r.Form, kept.Form), record.Said{})
			return
		case goesOn(last, r):
			r.Started = max(r.Started, last.Started)
			p.log.Interim++
			p.pending = nil
		}
	}
	p.flush()
	p.pending = r
}

// flush adds the pending report to the log.
func (p *parser) flush() {
	if p.pending != nil {
		p.log.Runs = append(p.log.Runs, *p.pending)
		p.pending = nil
	}
}

// closeText ends an open terse, text or group report.
func (p *parser) closeText() {
	p.closeGroup()
	if t := p.terse; t != nil {
		p.terse = nil
		p.add(t)
	}
	t := p.text
	p.text = nil
	if t == nil {
		return
	}
	t.run.Started, p.started = p.started, 0
	if !t.status {
		p.Add(t.run.Jobs[len(t.run.Jobs)-1].Line, noGroupStatus, stoppedOrCut)
		t.run.cut = true
	}
	p.add(&t.run)
}

// forms ranks the forms of reports by the digits of their figures.
var forms = map[string]int{"text": 1, "terse": 2, "json": 3}

// twice reports that a and b are one run in two forms, as fio writes it with --output-format=normal,json.
// If b is a text without its end, only its part is compared.
func twice(a, b *Run) bool {
	if a.Form == b.Form || len(b.Jobs) > len(a.Jobs) || a.Version != b.Version && a.Version != "" && b.Version != "" {
		return false
	}
	for i := range b.Jobs {
		if a.Jobs[i].Name != b.Jobs[i].Name || !a.Jobs[i].agrees(&b.Jobs[i], b.cut) {
			return false
		}
	}
	return b.cut || len(a.Jobs) == len(b.Jobs)
}

// agrees reports that two jobs have the same figures, as far as the forms print them. With cut, the other
// job may lack directions.
func (j *Job) agrees(other *Job, cut bool) bool {
	x, y := j.ios(), other.ios()
	if x > 0 && y > 0 && x != y {
		return false
	}
	close := func(a, b format.Num, part, least float64) bool {
		x, ok := a.Get()
		y, too := b.Get()
		return !ok || !too || math.Abs(x-y) <= part*max(x, y)+least
	}
	theirs := other.directions()
	for i, d := range j.directions() {
		o := theirs[i]
		if cut && o == nil {
			continue
		}
		if (d == nil) != (o == nil) || d != nil && (!close(d.IOPS, o.IOPS, 0.01, 1) || !close(d.Runtime, o.Runtime, 0, 0.002)) {
			return false
		}
	}
	return true
}

// directions returns reads, writes, trims and all together; nil: no I/O.
func (j *Job) directions() [4]*Direction { return [4]*Direction{j.Read, j.Write, j.Trim, j.Mixed} }

// ios returns the number of I/Os of all directions.
func (j *Job) ios() float64 {
	sum := 0.0
	for _, d := range j.directions() {
		if d != nil {
			n, _ := d.Total.Get()
			sum += n
		}
	}
	return sum
}

// goesOn reports that b is a later report about the run of a: the same jobs with at least as many I/Os, and
// the same time passed by the clock and by the jobs' runtimes. In text, process ids must be equal.
func goesOn(a, b *Run) bool {
	if a.Form != b.Form || a.Version != b.Version || len(a.Jobs) == 0 || len(a.Jobs) != len(b.Jobs) {
		return false
	}
	for i := range a.Jobs {
		x, y := &a.Jobs[i], &b.Jobs[i]
		if x.Name != y.Name || x.Group != y.Group || x.ios() > y.ios() || a.Form == "text" && (x.pid == 0 || x.pid != y.pid) {
			return false
		}
	}
	if a.Form != "json" {
		return a.Form == "text"
	}
	if a.time.IsZero() || b.time.IsZero() {
		return false
	}
	clock, before, after := b.time.Sub(a.time).Seconds(), a.Jobs[0].longest(), b.Jobs[0].longest()
	return clock >= 0 && math.Abs(after-before-clock) < 1.6 && after-clock > before/2
}

// longest returns the longest runtime of the job's directions in seconds.
func (j *Job) longest() float64 {
	out := 0.0
	for _, d := range j.directions() {
		if d != nil {
			t, _ := d.Runtime.Get()
			out = max(out, t)
		}
	}
	return out
}
