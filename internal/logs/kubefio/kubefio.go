// Package kubefio reads the summaries of programs that run fio in a pod on a Kubernetes volume: dbench
// (leeliu/dbench), kbench (longhorn/kbench) and kubestr.
//
// Each line of a summary comes from another run of fio, and is a load of its own. The package must not know
// what is compared.
package kubefio

import (
	"io"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// The readers.
var (
	Dbench = reader("dbench", dbenchVersions, []string{"Random Read/Write IOPS: ", "Average Latency (usec) Read/Write: ", "Average Latency Read/Write: ", "Mixed Random Read/Write IOPS: ",
		"= Dbench Summary =", "Sequential Read/Write: "}, (*parser).dbench)
	Kbench = reader("kbench", kbenchVersions, []string{"FIO Benchmark Summary", "FIO Benchmark Compar", "FIO Benchmark Latency P99", "IOPS (Read/Write)", "IOPS in ops (Read/Write)", "Bandwidth in KiB/sec (Read/Write)",
		"Latency in ns (Read/Write)"}, (*parser).kbench)
	Kubestr = reader("kubestr", "0.4", []string{"FIO test results:", "JobName: ", "FIO version - fio-", "Running FIO test ("}, (*parser).kubestr)
)

// reader makes the reader of one program. line reads a line and reports whether it was known.
func reader(name, versions string, begins []string, line func(*parser, string) bool) observed.Reader {
	tool := &format.Tool{Name: name, Kind: format.Kind(name), Begins: begins, Noise: noise}
	read := func(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
		return read(text, tool, line)
	}
	return observed.Reader{Tool: tool, Versions: versions, Kinds: []observed.Kind{{Name: tool.Kind, Read: read}}}
}

// noise matches lines without figures or settings.
var noise = regexp.MustCompile(`^(?:=+$|Working dir|Testing |All tests|CPU Idleness|PVC |Pod |Elapsed time|Disk stats|\S+: ios=|-\s+OK|TEST_FILE|(?:iops|bw\(KiB/s\)): min=)`)

// parser is the state between lines.
type parser struct {
	format.Scan
	tool     string
	runs     []*observed.Run
	settings [][2]string
	section  string        // kbench: the metric of the following rows
	scale    float64       // kbench: factor of the section to base units
	p99      bool          // kbench: latencies are 99th percentiles
	arms     [2]string     // kbench: the arms of a comparison
	job      *observed.Run // kubestr: the current job
	way      string        // kubestr: read or write
}

func read(text io.Reader, tool *format.Tool, line func(*parser, string) bool) ([]*observed.Run, []format.Warning, error) {
	p := &parser{Scan: format.NewScan(text, tool), tool: tool.Name}
	err := p.Each(func(b []byte) error {
		s := strings.TrimSpace(string(b))
		if s != "" && !line(p, s) {
			p.Strange(b)
		}
		return nil
	})
	if err == nil && len(p.runs) == 0 {
		err = p.Nothing(tool.Name)
	}
	return p.runs, p.Doubts(), err
}

// load begins a load.
func (p *parser) load(arm, name string) *observed.Run {
	r := &observed.Run{Sub: name}
	r.Tool, r.Line, r.Complete, r.Arm = p.tool, p.Number(), true, arm
	for _, s := range p.settings {
		if s[0] == fioVersion {
			r.MayDiffer(s[0], s[1])
			continue
		}
		r.MakesLoad(s[0], s[1])
	}
	p.runs = append(p.runs, r)
	return r
}

// set sets a setting of the following loads.
func (p *parser) set(name, value string) {
	for i := range p.settings {
		if p.settings[i][0] == name {
			p.settings[i][1] = value
			return
		}
	}
	p.settings = append(p.settings, [2]string{name, value})
}

// pair adds the figures of reads and writes in "75.7k/59.7k" or "523MiB/s / 500MiB/s".
func (p *parser) pair(arm, load string, of metric.Metric, text string, scale float64) bool {
	m := twoFigures.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	return p.figures(arm, load, of, number(m[1]).Times(scale), number(m[2]).Times(scale))
}

// figures adds a load with the figures of reads and writes.
func (p *parser) figures(arm, load string, of metric.Metric, reads, writes format.Num) bool {
	if !reads.NonZero().Known() && !writes.NonZero().Known() {
		p.Doubt(noFigures, lookAbove)
		return true
	}
	r := p.load(arm, load)
	r.Total(of.Of("read"), reads.NonZero())
	r.Total(of.Of("write"), writes.NonZero())
	return true
}

// twoFigures matches the figures of reads and writes. The slash between them is not the one in MiB/s.
var twoFigures = regexp.MustCompile(`^\s*([\d.,]*\s*[kKMG]?i?(?:B/s(?:ec)?)?)\s*/\s*(.*)$`)

var figure = regexp.MustCompile(`^\s*(\d[\d,]*(?:\.\d+)?)\s*([kKMG]?i?B?)(?:/s(?:ec)?)?\.?\s*$`)

// number reads 75.7k, 98,368, 523MiB/s and 500kB/s, in base units. The tools write a comma only
// between thousands.
func number(s string) format.Num {
	m := figure.FindStringSubmatch(s)
	if m == nil {
		return format.Num{}
	}
	scale, known := units.FioText(1000).Unit(m[2])
	if m[2] == "" {
		scale, known = 1, true
	}
	if !known {
		return format.Num{}
	}
	return format.Whole([]byte(strings.ReplaceAll(m[1], ",", ""))).Times(scale)
}
