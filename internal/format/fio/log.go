package fio

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

// LogKind says what the values of a log are; the log itself does not.
type LogKind string

// The kinds.
const (
	LatencyLog   LogKind = "latency" // also slat and clat
	BandwidthLog LogKind = "bandwidth"
	IOPSLog      LogKind = "iops"
)

// KindOf reads the kind from the name that fio gives a log: NAME_lat.1.log,
// NAME_clat.log, NAME_bw.log, NAME_iops.log. Empty when it has none of them.
func KindOf(name string) LogKind {
	base := strings.TrimSuffix(filepath.Base(name), ".gz")
	base = strings.TrimRight(strings.TrimSuffix(base, ".log"), ".0123456789")
	switch {
	case strings.HasSuffix(base, "_lat"), strings.HasSuffix(base, "_clat"), strings.HasSuffix(base, "_slat"):
		return LatencyLog
	case strings.HasSuffix(base, "_bw"):
		return BandwidthLog
	case strings.HasSuffix(base, "_iops"):
		return IOPSLog
	}
	return ""
}

// LogOptions is what has to be known about a log.
type LogOptions struct {
	Kind LogKind
	// Version of fio that wrote it: 2 (latencies in microseconds) or 3
	// (nanoseconds). 0 finds out, which is an error where it cannot be told.
	Version int
}

// Entry is one line of a log: one I/O, or an average under log_avg_msec.
type Entry struct {
	Line  int     `json:"line"`
	Time  float64 `json:"time"`  // seconds since the job began
	Value float64 `json:"value"` // seconds, bytes per second or IOPS
	// Max is the maximum beside an average (log_window_value=both).
	Max       format.Num `json:"max,omitzero"`
	Direction byte       `json:"direction"` // 'r', 'w', 't' or, for syncs, 's'
	Size      float64    `json:"size"`      // bytes; 0 for averages
}

// Summary is the log as a whole.
type Summary struct {
	Entries  int              `json:"entries"`
	Last     float64          `json:"last"`              // seconds, Time of the last entry
	Version  int              `json:"version,omitempty"` // 2 or 3, for latencies
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// raw is a line in the numbers of the log.
type raw struct {
	line                  int
	ms, value, high, size float64
	both                  bool
	direction             byte
}

// undecided is how many lines are looked at before the unit has to be clear.
const undecided = 2000

type logParser struct {
	lines   *format.Lines
	opt     LogOptions
	each    func(Entry) error
	sum     Summary
	warn    format.Warnings
	foreign format.Foreign
	scale   float64 // of values: multiplied, or divided where it is a time
	held    []raw   // until the unit is known
	modern  bool    // more columns than fio 2 writes
	both    bool    // average and maximum side by side
	bad     int
}

// ParseLog reads a log of fio line by line and hands every entry out. An error
// of each ends the reading and is returned.
func ParseLog(r io.Reader, opt LogOptions, each func(Entry) error) (*Summary, error) {
	p := &logParser{lines: format.NewLines(r), opt: opt, each: each, foreign: format.Foreign{Own: format.Fio}}
	switch opt.Kind {
	case LatencyLog, BandwidthLog, IOPSLog:
	default:
		return &p.sum, &format.Error{Text: "a log of fio does not say what it holds",
			Remedy: "name it as fio does (..._lat.log, ..._bw.log, ..._iops.log), or say latency, bandwidth or iops"}
	}
	err := p.all()
	p.sum.Warnings = p.lines.Doubts(&p.warn)
	return &p.sum, err
}

func (p *logParser) all() error {
	p.scale = p.fixedScale()
	for p.lines.Next() {
		var e raw
		if !p.entry(&e) {
			p.skip()
			continue
		}
		if err := p.take(e); err != nil {
			return err
		}
	}
	if err := p.lines.Err(); err != nil {
		return err
	}
	if len(p.held) > 0 {
		if err := p.decide(); err != nil {
			return err
		}
	}
	if p.sum.Entries == 0 {
		return format.Nothing("fio's logs", p.lines.Number(), p.foreign.First, p.foreign.Line)
	}
	return nil
}

// fixedScale is known beforehand but for latencies of an unknown version.
func (p *logParser) fixedScale() float64 {
	switch {
	case p.opt.Kind == BandwidthLog:
		return kibi
	case p.opt.Kind == IOPSLog:
		return 1
	case p.opt.Version == 2:
		p.sum.Version = 2
		return micro
	case p.opt.Version >= 3:
		p.sum.Version = 3
		return nano
	}
	return 0
}

// entry reads the line: time, value, [maximum,] direction, size, and what
// newer versions add: offset, priority, issue time.
func (p *logParser) entry(e *raw) bool {
	b := p.lines.Bytes()
	if p.lines.Torn() {
		p.warn.Once(p.lines.Number(), "the last line has no end and was left out", "")
		return false
	}
	var x [5]float64
	n, at := 0, 0
	for n < len(x) && at < len(b) {
		for at < len(b) && b[at] == ' ' {
			at++
		}
		v, size := format.Uint(b[at:])
		if size == 0 || v > 1<<53 {
			return false
		}
		x[n] = float64(v)
		n++
		at += size
		if at < len(b) {
			if b[at] != ',' {
				break
			}
			at++
		}
	}
	if n < 4 || n < 5 && at < len(b) {
		return false
	}
	return p.columns(e, x, n, b[at:])
}

func (p *logParser) columns(e *raw, x [5]float64, n int, rest []byte) bool {
	if n == 5 && x[2] > 3 && x[3] <= 3 {
		p.both = true
	}
	e.line, e.ms, e.value = p.lines.Number(), x[0], x[1]
	switch {
	case p.both && n == 5 && x[3] <= 3:
		e.high, e.both, e.direction, e.size = x[2], true, "rwts"[int(x[3])], x[4]
	case x[2] <= 3 && n > 3:
		e.direction, e.size = "rwts"[int(x[2])], x[3]
	default:
		return false
	}
	if len(rest) > 0 || n == 5 && !p.both && x[4] == 1 {
		p.modern = true
	}
	return true
}

// skip counts what is no entry.
func (p *logParser) skip() {
	text := bytes.TrimSpace(p.lines.Bytes())
	if len(text) == 0 || p.lines.Torn() {
		return
	}
	p.foreign.Look(text, p.lines.Number(), &p.warn)
	if p.bad++; p.bad == 1 {
		p.warn.Add(p.lines.Number(), "this line is no entry of a log and was left out, as are others like it",
			fmt.Sprintf("check the file: %q", text[:min(len(text), 60)]))
	}
}

// take hands an entry out, or holds it until the unit is known.
func (p *logParser) take(e raw) error {
	if p.scale == 0 {
		p.held = append(p.held, e)
		if len(p.held) < undecided {
			return nil
		}
		return p.decide()
	}
	return p.out(&e)
}

func (p *logParser) out(e *raw) error {
	p.sum.Entries++
	v := Entry{Line: e.line, Time: e.ms / milli, Direction: e.direction, Size: e.size, Value: e.value * p.scale}
	if p.opt.Kind == LatencyLog {
		v.Value = e.value / p.scale
	}
	if e.both {
		v.Max = format.Some(e.high * p.scale)
		if p.opt.Kind == LatencyLog {
			v.Max = format.Some(e.high / p.scale)
		}
	}
	p.sum.Last = max(p.sum.Last, v.Time)
	if p.each == nil {
		return nil
	}
	return p.each(v)
}

// decide finds the unit of latencies: only fio 3 writes more columns; no I/O
// takes longer than the job has run; no device answers in half a microsecond.
func (p *logParser) decide() error {
	low, impossible := 0, false
	for _, e := range p.held {
		if e.value < 500 {
			low++
		}
		impossible = impossible || e.value/micro > e.ms/milli+0.01
	}
	switch {
	case p.modern || impossible:
		p.scale, p.sum.Version = nano, 3
	case low*10 > len(p.held):
		p.scale, p.sum.Version = micro, 2
		p.warn.Add(0, "the log does not say which version wrote it; its latencies were read as microseconds (fio 2), as nanoseconds they would be impossible", "say which version of fio wrote it")
	default:
		return &format.Error{Text: "it cannot be told whether the latencies are in nanoseconds (fio 3) or microseconds (fio 2)",
			Remedy: "say which version of fio wrote the log"}
	}
	held := p.held
	p.held = nil
	for i := range held {
		if err := p.out(&held[i]); err != nil {
			return err
		}
	}
	return nil
}
