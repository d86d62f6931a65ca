package fio

import (
	"bytes"
	"io"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
)

// logKind says what the values of a log are. Only the name of the log tells.
type logKind string

// The kinds.
const (
	latencyLog   logKind = "latency" // also slat and clat
	bandwidthLog logKind = "bandwidth"
	iopsLog      logKind = "iops"
)

// logName matches the names that fio gives its logs: NAME_bw.log, and NAME_lat.1.log for job 1. Its
// groups are the name without the job, the kind, and the job with its ending. Shortened names match too.
var logName = regexp.MustCompile(`^(.*_(bw|iops|[sc]?lat))(?:(\.\d+\.log)|[.\d]*(?:\.log)?)(?:\.gz)?$`)

// kindOf reads the kind of a log from its name; empty for other names.
func kindOf(name string) logKind {
	m := logName.FindStringSubmatch(name)
	switch {
	case m == nil:
		return ""
	case m[2] == "bw":
		return bandwidthLog
	case m[2] == "iops":
		return iopsLog
	}
	return latencyLog
}

// wholeLog names the run of which a log holds one job; empty for other files.
func wholeLog(path string, _ []string) string {
	if m := logName.FindStringSubmatch(path); m != nil && m[3] != "" {
		return m[1]
	}
	return ""
}

// logOptions describe a log.
type logOptions struct {
	Kind logKind
	// Version is fio's: 2 (latencies in microseconds) or 3 (nanoseconds). 0: recognise it, or
	// return an error.
	Version int
}

// entry is one line of a log: one I/O, or an average under log_avg_msec.
type entry struct {
	Time      float64 `json:"time"`      // seconds since the job began
	Value     float64 `json:"value"`     // seconds, bytes per second or IOPS
	Direction byte    `json:"direction"` // 'r', 'w', 't' or, for syncs, 's'
}

// summary describes a whole log.
type summary struct {
	Entries  int              `json:"entries"`
	Version  int              `json:"version,omitempty"` // 2 or 3, for latencies
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// raw is a line with the numbers of the log.
type raw struct {
	ms, value float64
	direction byte
}

// undecided is how many lines may be read before the unit is known.
const undecided = 2000

type logParser struct {
	format.Scan
	opt     logOptions
	each    func(entry)
	sum     summary
	scale   float64 // factor of values, divisor of latencies; 0: not known yet
	waiting []raw   // lines before the unit is known
	modern  bool    // it has more columns than fio 2 writes
	both    bool    // it has a column with the maximum behind the average
	bad     int     // lines that are no entry
}

// parseLog reads a log of fio and calls each with every entry.
func parseLog(r io.Reader, opt logOptions, each func(entry)) (*summary, error) {
	p := &logParser{Scan: format.NewScan(r, declared), opt: opt, each: each}
	switch opt.Kind {
	case latencyLog, bandwidthLog, iopsLog:
	default:
		return &p.sum, &format.Error{Text: unknownLog, Remedy: nameLog}
	}
	p.scale = p.fixedScale()
	err := p.Each(p.line)
	if err == nil && len(p.waiting) > 0 {
		err = p.decide()
	}
	p.sum.Warnings = p.Doubts()
	if err == nil && p.sum.Entries == 0 {
		err = p.Nothing(logsOfFio)
	}
	return &p.sum, err
}

// line reads an entry, and keeps it if the unit is not known yet.
func (p *logParser) line(line []byte) error {
	var e raw
	switch {
	case p.Torn():
		p.NoEnd()
	case !p.entry(&e, line):
		p.skip(line)
	case p.scale != 0:
		p.out(&e)
	default:
		if p.waiting = append(p.waiting, e); len(p.waiting) == undecided {
			return p.decide()
		}
	}
	return nil
}

// fixedScale returns the scale if the options determine it; 0 for latencies of an unknown version.
func (p *logParser) fixedScale() float64 {
	switch {
	case p.opt.Kind == bandwidthLog:
		return kibi
	case p.opt.Kind == iopsLog:
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

// entry reads a line: time, value, [maximum,] direction, size, and in newer versions offset, priority and
// issue time.
func (p *logParser) entry(e *raw, b []byte) bool {
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
	p.both = p.both || n == 5 && x[2] > 3 && x[3] <= 3
	e.ms, e.value = x[0], x[1]
	switch {
	case p.both && n == 5 && x[3] <= 3:
		e.direction = "rwts"[int(x[3])]
	case x[2] <= 3:
		e.direction = "rwts"[int(x[2])]
	default:
		return false
	}
	p.modern = p.modern || at < len(b) || n == 5 && !p.both && x[4] == 1
	return true
}

// skip counts a line that is no entry, and warns about the first.
func (p *logParser) skip(line []byte) {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return
	}
	p.Strange(text)
	if p.bad++; p.bad == 1 {
		p.Add(p.Number(), noEntry, checkFile(text[:min(len(text), 60)]))
	}
}

func (p *logParser) out(e *raw) {
	p.sum.Entries++
	v := entry{Time: e.ms / milli, Direction: e.direction, Value: e.value * p.scale}
	if p.opt.Kind == latencyLog {
		v.Value = e.value / p.scale
	}
	p.each(v)
}

// decide finds the unit of latencies: only fio 3 writes more columns, no I/O takes longer than the job has
// run, and no device answers within half a microsecond.
func (p *logParser) decide() error {
	low, impossible := 0, false
	for _, e := range p.waiting {
		if e.value < 500 {
			low++
		}
		impossible = impossible || e.value/micro > e.ms/milli+0.01
	}
	switch {
	case p.modern || impossible:
		p.scale, p.sum.Version = nano, 3
	case low*10 > len(p.waiting):
		p.scale, p.sum.Version = micro, 2
		p.Add(0, asMicroseconds, asNanoseconds)
	default:
		return &format.Error{Text: unknownUnit, Remedy: sayVersion}
	}
	for i := range p.waiting {
		p.out(&p.waiting[i])
	}
	p.waiting = nil
	return nil
}
