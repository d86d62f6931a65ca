package fio

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
)

// textRun is a text report while it is read. It has at least one job.
type textRun struct {
	run     Run
	dir     *Direction // of the following lines
	last    *Latency   // of the following percentiles
	scale   float64    // units of the percentiles per second; 0 outside of percentiles
	syncing bool       // the following latencies are of syncs
	status  bool       // the group status, which follows all jobs, has begun
	// nameless says that the first line of the job is missing.
	nameless bool
}

// textLine reads a line that is neither JSON nor terse.
func (p *parser) textLine(line, text []byte) {
	switch {
	case bytes.HasPrefix(text, []byte("fio-")) && bytes.IndexByte(text, ' ') < 0:
		p.version = string(text[4:])
	case bytes.HasPrefix(text, []byte("hostname=")) && bytes.Contains(text, []byte(", fio=fio-")):
		p.serverLine(text)
	case bytes.Contains(text, []byte(": (groupid=")) && bytes.Contains(text, []byte("err=")):
		p.jobLine(text)
	case p.text != nil && p.Torn():
		p.NoEnd()
	case p.nameless(text):
	case p.text == nil && p.groupLine(text):
	case p.text == nil || !p.text.line(text):
		p.Strange(line)
	}
}

// groupStatus matches lines of a group status: "READ: bw=87.0MiB/s (91.2MB/s), 10.0MiB/s-12.0MiB/s
// ..., io=870MiB (912MB), run=10000-10000msec" of 3.x, "READ: io=32MB, aggrb=666KB/s, minb=..." of 2.x.
var groupStatus = regexp.MustCompile(`^(READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=)`)

// groupLine reads a line of a group status without jobs above it: the bandwidth of all jobs of a group.
func (p *parser) groupLine(text []byte) bool {
	if bytes.HasPrefix(text, []byte("Run status group ")) {
		p.closeGroup()
		p.group = &Run{Line: p.Number(), Form: "text", Version: p.version, groupOnly: true,
			Jobs: []Job{{Line: p.Number(), Group: whole(text[len("Run status group "):])}}}
		return true
	}
	m := groupStatus.FindSubmatch(text)
	if m == nil {
		return false
	}
	if p.group == nil {
		p.group = &Run{Line: p.Number(), Form: "text", Version: p.version, groupOnly: true, Jobs: []Job{{Line: p.Number()}}}
	}
	d := &Direction{Runtime: longest(text)}
	if d.Bandwidth = size(text, "bw=", 1000); bytes.Contains(text, []byte("aggrb=")) {
		d.Bandwidth = size(text, "aggrb=", 1024)
	}
	j := &p.group.Jobs[0]
	switch string(m[1]) {
	case "READ":
		j.Read = d
	case "WRITE":
		j.Write = d
	case "TRIM":
		j.Trim = d
	default:
		j.Mixed = d
	}
	return true
}

// longest reads the longest runtime of the jobs in seconds: "run=10000-10003msec", and of 2.x "mint=...,
// maxt=10003msec".
func longest(text []byte) format.Num {
	_, run, ok := bytes.Cut(text, []byte("run="))
	if _, most, is := bytes.Cut(run, []byte("-")); ok && is {
		return format.Leading(most).Over(milli)
	}
	return count(text, "maxt=").Over(milli)
}

// closeGroup adds a group status without jobs to the log.
func (p *parser) closeGroup() {
	g := p.group
	p.group = nil
	if g == nil || g.Jobs[0].directions() == [4]*Direction{} {
		return
	}
	p.Once(g.Line, onlyGroup, wholeReport)
	p.add(g)
}

// serverLine reads the version of a server on which a client runs jobs:
// "hostname=a, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.38, flags=1".
func (p *parser) serverLine(text []byte) {
	_, rest, _ := bytes.Cut(text, []byte(", fio=fio-"))
	version, _, _ := bytes.Cut(rest, []byte(","))
	switch its := string(version); {
	case p.version == "" || p.text != p.before: // the first server of a run
		p.version, p.before = its, p.text
	case !slices.Contains(strings.Split(p.version, " and "), its):
		p.version += " and " + its
	}
}

// jobLine begins a job: "mix: (groupid=0, jobs=1): err= 0: pid=4019: Sat ...".
func (p *parser) jobLine(text []byte) {
	j := jobOf(text)
	if p.terse != nil || p.text != nil && (p.text.status || p.text.nameless || p.text.has(&j)) {
		p.closeText()
	}
	n := p.Number()
	if p.text == nil {
		p.text = &textRun{run: Run{Line: n, Form: "text", Version: p.version}}
	}
	p.closeGroup()
	t := p.text
	*t = textRun{run: t.run}
	j.Line, j.Options = n, p.optionsOf(j.Name)
	t.run.Jobs = append(t.run.Jobs, j)
}

// ofDirection matches the line of a job's reads, writes or trims.
var ofDirection = regexp.MustCompile(`^(read|write|trim|mixed)\s*: (?:IOPS=|io=)`)

// nameless begins a job without its first line, because people quote only a few lines of a report.
func (p *parser) nameless(text []byte) bool {
	m := ofDirection.FindSubmatch(text)
	if m == nil {
		return false
	}
	if t := p.text; t != nil {
		last := &t.run.Jobs[len(t.run.Jobs)-1]
		there := map[string]*Direction{"read": last.Read, "write": last.Write, "trim": last.Trim, "mixed": last.Mixed}[string(m[1])]
		if !t.status && (!t.nameless || there == nil) {
			return false // the line belongs to the current job
		}
		p.closeText()
	}
	p.closeGroup()
	p.text = &textRun{nameless: true, run: Run{Line: p.Number(), Form: "text", Version: p.version, Jobs: []Job{{Line: p.Number()}}}}
	p.Doubt(namelessJob, wholeReport)
	return p.text.line(text)
}

// has reports that the report already has the job, with the same name and process id.
func (t *textRun) has(j *Job) bool {
	return len(t.run.Jobs) >= mostJobs || slices.ContainsFunc(t.run.Jobs, func(x Job) bool { return x.Name == j.Name && x.pid == j.pid })
}

// jobOf reads the line that begins a job.
func jobOf(text []byte) Job {
	name, rest, _ := bytes.Cut(text, []byte(": (groupid="))
	j := Job{Name: string(name), Group: whole(rest)}
	if _, n, ok := bytes.Cut(rest, []byte("jobs=")); ok {
		j.jobs = whole(n)
	}
	if _, e, ok := bytes.Cut(rest, []byte("err=")); ok {
		j.Error = whole(bytes.TrimLeft(e, " "))
	}
	if _, e, ok := bytes.Cut(rest, []byte(", error=")); ok && j.Error != 0 {
		e, _, _ = bytes.Cut(e, []byte(")"))
		j.ErrorText = string(e)
	}
	if _, id, ok := bytes.Cut(rest, []byte("pid=")); ok {
		j.pid = whole(id)
	}
	return j
}

// whole reads a whole number below 2³¹; 0: none.
func whole(b []byte) int {
	x, n := format.Uint(b)
	if n == 0 || x > 1<<31-1 {
		return 0
	}
	return int(x)
}

// line reads a line of a job or of the end of the report.
func (t *textRun) line(text []byte) bool {
	switch {
	case t.status:
		return ending.Match(text)
	case bytes.HasPrefix(text, []byte("Run status group")):
		t.status = true
		return true
	case text[0] == '|':
		return t.percentiles(text)
	}
	t.scale = 0
	key, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return false
	}
	return t.field(string(bytes.TrimSpace(key)), value) || bytes.Contains(text, []byte("="))
}

// ending matches the lines of the group status and of the disks behind it.
var ending = regexp.MustCompile(`^(?:(?:READ|WRITE|TRIM|MIXED|SYNC)\s*: |Disk stats|[^:]+: ios=|Run status group)`)

// field reads a line "key: value".
func (t *textRun) field(key string, value []byte) bool {
	j := &t.run.Jobs[len(t.run.Jobs)-1]
	switch key {
	case "read":
		j.Read = t.direction(value)
	case "write":
		j.Write = t.direction(value)
	case "trim":
		j.Trim = t.direction(value)
	case "mixed":
		j.Mixed = t.direction(value)
	case "fsync/fdatasync/sync_file_range", "fsync/fdatasync/sync_file_range/syncfs":
		j.Sync, t.dir, t.syncing = &Sync{}, nil, true
	case "cpu":
		t.dir, t.syncing = nil, false
		j.UserCPU, j.SystemCPU = count(value, "usr=").Over(100), count(value, "sys=").Over(100)
	case "issued rwts", "issued rwt", "issued":
		j.issued(value)
	default:
		return t.latency(j, key, value)
	}
	return true
}

// direction reads the line of reads, writes or trims, of 2.x or 3.x.
func (t *textRun) direction(value []byte) *Direction {
	d := &Direction{}
	t.dir, t.syncing, t.last = d, false, nil
	if bytes.Contains(value, []byte("io=")) { // 2.x: KB is 1024
		d.Bandwidth, d.IOPS, d.Runtime = size(value, "bw=", 1024), count(value, "iops="), count(value, "runt=").Over(milli)
		return d
	}
	d.IOPS, d.Bandwidth = count(value, "IOPS="), size(value, "BW=", 1000)
	if i := bytes.LastIndexByte(value, '('); i >= 0 { // "(1200KiB/1009msec)"
		if _, run, ok := bytes.Cut(value[i+1:], []byte("/")); ok {
			d.Runtime = format.Leading(run).Over(milli)
		}
	}
	return d
}

// issued reads the counts of I/Os: "total=300,100,0,16 short=0,0,0,0
// dropped=0,0,0,0" of 3.x, "total=r=301/w=100/d=0, short=r=0/..." of 2.x.
func (j *Job) issued(value []byte) {
	_, value, _ = bytes.Cut(value, []byte("total="))
	list, _, _ := bytes.Cut(bytes.TrimLeft(value, " "), []byte(" "))
	dirs := []*Direction{j.Read, j.Write, j.Trim}
	if j.Mixed != nil {
		dirs = []*Direction{j.Mixed}
	}
	for i, c := range bytes.FieldsFunc(list, func(r rune) bool { return r < '0' || r > '9' }) {
		switch n := format.Whole(c); {
		case i == 3 && j.Sync != nil:
			j.Sync.Total = n
		case i < len(dirs) && dirs[i] != nil:
			dirs[i].Total = n
		}
	}
}
