package fio

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

// textRun is a text report under construction.
type textRun struct {
	run     Run
	dir     *Direction // of the lines that follow
	last    *Latency   // that the next percentiles belong to
	scale   float64    // of the percentiles, per second; 0 outside of them
	syncing bool
	jobs    bool // inside the jobs, before the group status
	status  bool // the group status was there
	disks   bool
}

// textLine takes a line that is neither JSON nor terse.
func (p *parser) textLine(line, text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("fio-")) && bytes.IndexByte(text, ' ') < 0:
		p.version = string(text[4:])
		return nil
	case bytes.Contains(text, []byte(": (groupid=")) && bytes.Contains(text, []byte("err=")):
		return p.jobLine(text)
	case p.text == nil:
		p.foreign.Look(line, p.lines.Number(), &p.warn)
		return nil
	}
	if p.lines.Torn() {
		p.warn.Once(p.lines.Number(), "the last line has no end and was left out", "")
		return nil
	}
	if !p.text.line(text) {
		p.foreign.Look(line, p.lines.Number(), &p.warn)
	}
	return nil
}

// jobLine begins a job: "mix: (groupid=0, jobs=1): err= 0: pid=4019: Sat ...".
func (p *parser) jobLine(text []byte) error {
	if p.text != nil && p.text.status {
		if err := p.closeText(); err != nil {
			return err
		}
	}
	n := p.lines.Number()
	if p.text == nil {
		p.text = &textRun{run: Run{Line: n, Form: "text", Version: p.version}}
	}
	t := p.text
	*t = textRun{run: t.run, jobs: true}
	name, rest, _ := bytes.Cut(text, []byte(": (groupid="))
	j := Job{Line: n, Name: string(name)}
	j.Group = int(whole(rest))
	if _, e, ok := bytes.Cut(rest, []byte("err=")); ok {
		j.Error = int(whole(bytes.TrimLeft(e, " ")))
	}
	if _, e, ok := bytes.Cut(rest, []byte(", error=")); ok && j.Error != 0 {
		e, _, _ = bytes.Cut(e, []byte(")"))
		j.ErrorText = string(e)
	}
	if _, id, ok := bytes.Cut(rest, []byte("pid=")); ok {
		j.PID = int(whole(id))
	}
	t.run.Jobs = append(t.run.Jobs, j)
	return nil
}

// whole reads a small whole number; 0 if there is none.
func whole(b []byte) uint64 {
	x, n := format.Uint(b)
	if n == 0 || x > 1<<31-1 {
		return 0
	}
	return x
}

// line reads a line of a job or of the end of the report.
func (t *textRun) line(text []byte) bool {
	switch {
	case bytes.HasPrefix(text, []byte("Run status group")):
		t.status, t.jobs = true, false
		return true
	case bytes.HasPrefix(text, []byte("Disk stats")):
		t.disks = true
		return true
	case t.disks:
		return t.disk(text)
	case !t.jobs:
		return t.status
	case text[0] == '|':
		return t.percentiles(text)
	}
	t.scale = 0
	key, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return false
	}
	return t.field(string(bytes.TrimSpace(key)), value, text)
}

// field reads what stands before the first colon and what behind.
func (t *textRun) field(key string, value, text []byte) bool {
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
		j.UserCPU, j.SystemCPU = pair(value, "usr=").Over(100), pair(value, "sys=").Over(100)
		j.Switches, j.MajorFaults = pair(value, "ctx="), pair(value, "majf=")
	case "issued rwts", "issued rwt", "issued":
		j.issued(value)
	case "iops":
		if t.dir != nil {
			t.dir.IOPSSamples = samples(value, 1)
		}
	default:
		return t.latency(j, key, value) || bytes.Contains(text, []byte("="))
	}
	return true
}

// direction reads the line of reads, writes or trims of either era.
func (t *textRun) direction(value []byte) *Direction {
	d := &Direction{}
	t.dir, t.syncing, t.last = d, false, nil
	if bytes.Contains(value, []byte("io=")) { // 2.x: KB is 1024
		d.Bytes, d.Bandwidth = size(value, "io=", 1024), size(value, "bw=", 1024)
		d.IOPS, d.Runtime = pair(value, "iops="), pair(value, "runt=").Over(milli)
		return d
	}
	d.IOPS, d.Bandwidth = pair(value, "IOPS="), size(value, "BW=", 1000)
	if i := bytes.LastIndexByte(value, '('); i >= 0 { // "(1200KiB/1009msec)"
		amount, run, ok := bytes.Cut(value[i+1:], []byte("/"))
		if ok {
			d.Bytes, d.Runtime = size(amount, "", 1000), format.Leading(run).Over(milli)
		}
	}
	return d
}

// issued reads the numbers of I/Os: "total=300,100,0,16 short=0,0,0,0
// dropped=0,0,0,0" of 3.x, "total=r=301/w=100/d=0, short=r=0/..." of 2.x.
func (j *Job) issued(value []byte) {
	for _, part := range bytes.Fields(value) {
		key, list, ok := bytes.Cut(bytes.TrimRight(part, ","), []byte("="))
		if !ok {
			continue
		}
		j.count(string(key), bytes.FieldsFunc(list, func(r rune) bool { return r < '0' || r > '9' }))
	}
}

func (j *Job) count(key string, counts [][]byte) {
	dirs := []*Direction{j.Read, j.Write, j.Trim}
	if j.Mixed != nil {
		dirs = []*Direction{j.Mixed}
	}
	for i, c := range counts {
		n := format.Whole(c)
		switch {
		case i == 3 && key == "total" && j.Sync != nil:
			j.Sync.Total = n
		case i >= len(dirs) || dirs[i] == nil:
		case key == "total":
			dirs[i].Total = n
		case key == "short":
			dirs[i].Short = n
		case key == "dropped" || key == "drop":
			dirs[i].Dropped = n
		}
	}
}

// disk reads "vda: ios=279/303, merge=0/42, ticks=22/85, in_queue=125, util=8.11%".
func (t *textRun) disk(text []byte) bool {
	name, rest, ok := bytes.Cut(text, []byte(":"))
	if !ok || !bytes.Contains(rest, []byte("ios=")) {
		return false
	}
	d := Disk{Name: string(name), Reads: pair(rest, "ios="), Utilisation: pair(rest, "util=").Over(100)}
	if _, after, ok := bytes.Cut(rest, []byte("ios=")); ok {
		if _, w, ok := bytes.Cut(after, []byte("/")); ok {
			d.Writes = format.Leading(w)
		}
	}
	t.run.Disks = append(t.run.Disks, d)
	return true
}
