package fio

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
)

// The number of fields of a direction in terse output (stat.c, show_ddir_status_terse): amount, bandwidth,
// IOPS, runtime, four of slat, four of clat, twenty percentiles, four of lat, five of bandwidth. Version 5
// has one more of bandwidth and five of IOPS.
const (
	terseFields  = 41
	terse5Fields = 47
)

var (
	semicolon = []byte(";")
	quantile  = []byte("%=")
)

// terseLine reads a line of --minimal, versions 2 to 5. Latencies are in microseconds, amounts in KiB. Each
// line is a job of a run. A job whose name the run already has begins another run, unless fio printed that
// it starts more jobs.
func (p *parser) terseLine(text []byte) {
	f := p.fields[:0]
	for rest, more := text, true; more; {
		var field []byte
		field, rest, more = bytes.Cut(rest, semicolon)
		f = append(f, field)
	}
	p.fields = f
	version := int(text[0] - '0')
	head := 5 // version, fio version, name, group, error
	if version == 2 {
		head = 4
	}
	blocks := terseBlocks(f, head, version)
	if len(blocks) == 0 || p.Torn() {
		p.Doubt(cutTerse, useJSON)
		return
	}
	j := Job{Line: p.Number(), Name: string(f[head-3]), Group: whole(f[head-2]), Error: whole(f[head-1])}
	j.terse(version, blocks)
	cpu := f[head+len(blocks)*len(blocks[0]):]
	j.UserCPU, j.SystemCPU = percent(cpu[0]), percent(cpu[1])
	release := ""
	if version > 2 {
		release = strings.TrimPrefix(string(f[1]), "fio-")
	}
	j.Options = p.optionsOf(j.Name)
	same := func(x Job) bool { return x.Name == j.Name }
	if t := p.terse; t != nil && t.Version == release && len(t.Jobs) < mostJobs &&
		(len(t.Jobs) < p.expected || !slices.ContainsFunc(t.Jobs, same)) {
		t.Jobs = append(t.Jobs, j)
		return
	}
	p.closeText()
	p.terse = &Run{Line: j.Line, Form: "terse", Version: release, Jobs: []Job{j}}
}

// terseBlocks returns the fields of each direction. A direction begins with a whole number; the CPU usage in
// percent follows the last one.
func terseBlocks(f [][]byte, head, version int) [][][]byte {
	size := terseFields
	if version == 5 {
		size = terse5Fields
	}
	var out [][][]byte
	at := head
	for len(out) < 4 && at+size+4 <= len(f) && bytes.IndexByte(f[at], '%') < 0 {
		out = append(out, f[at:at+size])
		at += size
	}
	if len(out) == 0 || !percent(f[at]).Known() || !percent(f[at+1]).Known() {
		return nil
	}
	return out
}

// terse assigns the directions. One is all together; two are reads and writes; a third is trims, but all
// together in version 3; a fourth is all together.
func (j *Job) terse(version int, blocks [][][]byte) {
	into := []**Direction{&j.Read, &j.Write, &j.Trim, &j.Mixed}
	switch {
	case len(blocks) == 1:
		into = []**Direction{&j.Mixed}
	case version == 3 && len(blocks) == 3:
		into = []**Direction{&j.Read, &j.Write, &j.Mixed}
	}
	for i, b := range blocks {
		*into[i] = terseDirection(b)
	}
}

func terseDirection(f [][]byte) *Direction {
	num := func(i int) format.Num { return format.Whole(f[i]) }
	if !num(0).NonZero().Known() {
		return nil
	}
	d := &Direction{Bandwidth: num(1).Times(kibi), IOPS: num(2), Runtime: num(3).Over(milli),
		Slat: terseLatency(f[4:8]), Clat: terseLatency(f[8:12]), Lat: terseLatency(f[32:36])}
	if d.Clat != nil {
		d.Clat.Quantiles = terseQuantiles(f[12:32])
	}
	return d
}

// terseLatency reads minimum, maximum, mean and deviation; nil if all are 0, because nothing was measured.
func terseLatency(f [][]byte) *Latency {
	mean := format.Whole(f[2])
	if !format.Whole(f[1]).NonZero().Known() && !mean.NonZero().Known() {
		return nil
	}
	return &Latency{Mean: mean.Over(micro)}
}

// terseQuantiles reads fields such as "99.000000%=34340". "0%=0" is padding.
func terseQuantiles(f [][]byte) (out []format.Quantile) {
	for _, p := range f {
		q, v, ok := bytes.Cut(p, quantile)
		percent, known := format.Whole(q).Get()
		if x := format.Whole(v); ok && known && percent > 0 && percent <= 100 && x.Known() {
			out = append(out, format.Quantile{Q: format.Share(percent), Seconds: x.Over(micro)})
		}
	}
	return out
}

// percent reads "16.500000%" as a ratio.
func percent(b []byte) format.Num {
	last := len(b) - 1
	if last < 0 || b[last] != '%' {
		return format.Num{}
	}
	return format.Whole(b[:last]).Over(100)
}
