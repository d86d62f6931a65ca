package fio

import (
	"bytes"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

// Fields of a direction in terse output, by version (stat.c,
// show_ddir_status_terse): amount, bandwidth, IOPS, runtime, four of slat, four
// of clat, twenty percentiles, four of lat, five of bandwidth; in version 5 one
// more of bandwidth and five of IOPS.
const (
	terseFields  = 41
	terse5Fields = 47
)

var (
	semicolon = []byte(";")
	quantile  = []byte("%=")
)

// terseLine reads a line of --minimal, versions 2 to 5; latencies are always
// in microseconds, amounts in KiB. Lines of one version that follow each other
// are the jobs of one run.
func (p *parser) terseLine(text []byte) error {
	n := p.lines.Number()
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
	if len(blocks) == 0 || p.lines.Torn() {
		p.warn.Once(n, "a terse line is cut off or of an unknown version; it was left out", "use --output-format=json")
		return nil
	}
	j := Job{Line: n, Name: string(f[head-3])}
	j.Group, j.Error = int(whole(f[head-2])), int(whole(f[head-1]))
	j.terse(version, blocks)
	cpu := f[head+len(blocks)*len(blocks[0]):]
	j.UserCPU, j.SystemCPU = percent(cpu[0]), percent(cpu[1])
	j.Switches, j.MajorFaults = format.Whole(cpu[2]), format.Whole(cpu[3])
	release := ""
	if version > 2 {
		release = strings.TrimPrefix(string(f[1]), "fio-")
	}
	return p.terseJob(release, j)
}

// terseJob adds the job to the run of the lines above, or begins one where the
// name comes again.
func (p *parser) terseJob(release string, j Job) error {
	if t := p.terse; t != nil {
		again := t.Version != release
		for i := range t.Jobs {
			again = again || t.Jobs[i].Name == j.Name && t.Jobs[i].Group == j.Group
		}
		if again {
			p.terse = nil
			if err := p.add(t); err != nil {
				return err
			}
		}
	}
	if p.terse == nil {
		p.terse = &Run{Line: j.Line, Form: "terse", Version: release}
	}
	p.terse.Jobs = append(p.terse.Jobs, j)
	return nil
}

// terseBlocks cuts the directions out: each begins with a whole number, and
// what follows the last one is the CPU usage in percent.
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

// terse sorts the directions: one is all together, two are reads and writes,
// a third is trims, or in version 3, and behind trims, all together.
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
	if !num(0).Positive().Known() {
		return nil
	}
	d := &Direction{Bytes: num(0).Times(kibi), Bandwidth: num(1).Times(kibi), IOPS: num(2), Runtime: num(3).Over(milli),
		Slat: terseLatency(f[4:8]), Clat: terseLatency(f[8:12]), Lat: terseLatency(f[32:36])}
	if d.Clat != nil {
		d.Clat.Quantiles = terseQuantiles(f[12:32])
	}
	bw := Spread{num(36).Times(kibi), num(37).Times(kibi), num(39).Times(kibi), num(40).Times(kibi), format.Num{}}
	if len(f) == terse5Fields {
		bw.N = num(41)
		d.IOPSSamples = Spread{num(42), num(43), num(44), num(45), num(46)}.measured()
	}
	d.BandwidthSamples = bw.measured()
	return d
}

func terseLatency(f [][]byte) *Latency {
	l := &Latency{Min: format.Whole(f[0]).Over(micro), Max: format.Whole(f[1]).Over(micro),
		Mean: format.Whole(f[2]).Over(micro), StdDev: format.Whole(f[3]).Over(micro)}
	return l.measured()
}

// terseQuantiles reads "99.000000%=34340"; "0%=0" is padding.
func terseQuantiles(f [][]byte) []format.Quantile {
	out := make([]format.Quantile, 0, len(f))
	for _, p := range f {
		q, v, ok := bytes.Cut(p, quantile)
		percent, known := format.Whole(q).Get()
		if x := format.Whole(v); ok && known && percent > 0 && percent <= 100 && x.Known() {
			out = append(out, format.Quantile{Q: format.Share(percent), Seconds: x.Over(micro)})
		}
	}
	if len(out) == 0 {
		return nil
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
