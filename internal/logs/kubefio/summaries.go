package kubefio

import (
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// fioVersion is the setting with the version of fio.
const fioVersion = "fio"

// second has units of time in seconds.
var second = map[string]float64{"usec": 1e-6, "us": 1e-6, "msec": 1e-3, "ms": 1e-3, "nsec": 1e-9, "ns": 1e-9, "sec": 1, "s": 1}

// dbench prints the unit of latencies in the heading, or behind each figure.
var (
	latencyLine  = regexp.MustCompile(`^Average Latency \((\w+)\) Read/Write: (.*)$`)
	latencyUnits = regexp.MustCompile(`^Average Latency Read/Write: ([\d. ]*)\((\w*)\) / ([\d. ]*)\((\w*)\)$`)
)

// dbench reads a line of dbench's summary:
//
//	Random Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s
//	Average Latency (usec) Read/Write: 183.07/76.91
//	Average Latency Read/Write: 183.07(usec) / 76.91(usec)
//	Sequential Read/Write: 536MiB/s / 512MiB/s
//	Mixed Random Read/Write IOPS: 43.1k/14.4k
func (p *parser) dbench(s string) bool {
	if strings.Contains(s, "Dbench Summary") {
		return true
	}
	if m := latencyLine.FindStringSubmatch(s); m != nil && second[m[1]] > 0 {
		return p.pair("", randomLatency, metric.LatencyMean, m[2], second[m[1]])
	}
	if m := latencyUnits.FindStringSubmatch(s); m != nil {
		return p.figures("", randomLatency, metric.LatencyMean, number(m[1]).Times(second[m[2]]), number(m[3]).Times(second[m[4]]))
	}
	if rest, ok := strings.CutPrefix(s, "Mixed Random Read/Write IOPS: "); ok {
		return p.pair("", mixedRandomIOPS, metric.IOPS, rest, 1)
	}
	if rest, ok := strings.CutPrefix(s, "Sequential Read/Write: "); ok {
		return p.pair("", sequentialBandwidth, metric.Bandwidth, rest, 1)
	}
	rest, ok := strings.CutPrefix(s, "Random Read/Write IOPS: ")
	if !ok {
		return false
	}
	iops, bandwidth, both := strings.Cut(rest, " BW: ")
	ok = p.pair("", randomIOPS, metric.IOPS, strings.TrimSuffix(strings.TrimSpace(iops), "."), 1)
	return ok && (!both || p.pair("", randomBandwidth, metric.Bandwidth, bandwidth, 1))
}

var (
	kbenchSection = regexp.MustCompile(`^(IOPS|Bandwidth|Latency)(?: in (\S+))? \(Read/Write\)`)
	kbenchSize    = regexp.MustCompile(`(?i)^size: (.+)$`)
	kbenchQuick   = regexp.MustCompile(`(?i)^quick mode:? (enabled|disabled)$`)
	kbenchRow     = regexp.MustCompile(`^(Random|Sequential):\s*(.*)$`)
	kbenchArms    = regexp.MustCompile(`^(\S.*?)\s{2,}vs\s{2,}(\S.*?)\s+:\s+Change$`)
)

// kbenchMetrics are the metrics of kbench's sections.
var kbenchMetrics = map[string]metric.Metric{"iops": metric.IOPS, "bandwidth": metric.Bandwidth, "latency": metric.LatencyMean}

// kbench reads a line of kbench's summary, or of its comparison of two. Newer versions write "IOPS in
// ops", and a second summary with the 99th percentiles of the latencies:
//
//	IOPS (Read/Write)
//	        Random:         98,368 / 89,200
//	        Random:          98,368 / 89,200   vs          28,192 / 15,513    :   -71.34% / -82.61%
func (p *parser) kbench(s string) bool {
	if m := kbenchSection.FindStringSubmatch(s); m != nil {
		p.section, p.scale = strings.ToLower(m[1]), 1
		switch unit := strings.TrimSuffix(strings.TrimSuffix(m[2], "ec"), "/s"); {
		case m[1] == "Bandwidth":
			p.scale, _ = format.Size([]byte("1" + unit)).Get()
		case m[1] == "Latency":
			p.scale = second[m[2]]
		}
		return true
	}
	if m := kbenchArms.FindStringSubmatch(s); m != nil {
		p.arms = [2]string{m[1], m[2]}
		return true
	}
	if m := kbenchSize.FindStringSubmatch(s); m != nil {
		p.set("size", observed.Bytes(m[1]))
		return true
	}
	if m := kbenchQuick.FindStringSubmatch(s); m != nil {
		p.set(quickMode, strings.ToLower(m[1]))
		return true
	}
	if strings.HasPrefix(s, "FIO Benchmark ") {
		p.section, p.arms, p.settings, p.p99 = "", [2]string{}, nil, strings.Contains(s, "P99")
		return true
	}
	m := kbenchRow.FindStringSubmatch(s)
	if m == nil || p.section == "" {
		return false
	}
	if p.section == "latency" {
		p.latencyUnits(m)
	}
	if p.scale == 0 {
		return false
	}
	load := loadOf(m[1], p.section)
	of := kbenchMetrics[p.section]
	if p.p99 && p.section == "latency" {
		of = metric.P99
	}
	own, rest, compared := strings.Cut(m[2], " vs ")
	ok := p.pair(p.arms[0], load, of, own, p.scale)
	if compared && p.arms[1] != "" {
		other, _, _ := strings.Cut(rest, " :")
		ok = p.pair(p.arms[1], load, of, other, p.scale) && ok
	}
	return ok
}

// withUnit matches a latency with its unit, as kbench of July 2021 wrote it.
var withUnit = regexp.MustCompile(`([\d,.]+)\s*(ns|us|ms|nsec|usec|msec|s)\b`)

// latencyUnits takes the unit from the figures of a row and removes it there.
func (p *parser) latencyUnits(row []string) {
	if m := withUnit.FindStringSubmatch(row[2]); m != nil {
		p.scale = second[m[2]]
		row[2] = withUnit.ReplaceAllString(row[2], "$1")
	}
}

var (
	kubestrClass = regexp.MustCompile(`^Running FIO test \(([^)]*)\) on StorageClass \(([^)]*)\) with a PVC of Size \(([^)]*)\)`)
	kubestrRates = regexp.MustCompile(`^IOPS=([\d.]+) BW\(KiB/s\)=(\d+)`)
)

// kubestr reads a line of kubestr's results:
//
//	JobName: read_iops
//	  blocksize=4K filesize=2G iodepth=64 rw=randread
//	read:
//	  IOPS=2041.587646 BW(KiB/s)=8183
func (p *parser) kubestr(s string) bool {
	if m := kubestrClass.FindStringSubmatch(s); m != nil {
		p.Aside(p.Number(), "StorageClass "+m[2]+":")
		p.settings = nil
		p.set("test", m[1])
		p.set(volumeSize, m[3])
		return true
	}
	if name, ok := strings.CutPrefix(s, "JobName: "); ok {
		p.job, p.way = p.load("", name), ""
		return true
	}
	if version, ok := strings.CutPrefix(s, "FIO version - fio-"); ok {
		p.set(fioVersion, version)
		return true
	}
	switch {
	case s == "FIO test results:":
		p.job = nil
		return true
	case strings.HasPrefix(s, "Global options - "):
		p.set("options", strings.TrimPrefix(s, "Global options - "))
		return true
	case p.job == nil:
		return false
	case s == "read:" || s == "write:" || s == "trim:":
		p.way = strings.TrimSuffix(s, ":")
		return true
	case strings.HasPrefix(s, "blocksize="):
		p.options(s)
		return true
	}
	m := kubestrRates.FindStringSubmatch(s)
	if m == nil || p.way == "" {
		return false
	}
	p.job.Total(metric.IOPS.Of(p.way), format.Whole([]byte(m[1])).NonZero())
	p.job.Total(metric.Bandwidth.Of(p.way), format.Whole([]byte(m[2])).Times(1024).NonZero())
	return true
}

// options adds the options of a job as settings.
func (p *parser) options(s string) {
	for _, o := range strings.Fields(s) {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "blocksize":
			p.job.MakesLoad("bs", observed.Bytes(value))
		case "filesize":
			p.job.MakesLoad("size", observed.Bytes(value))
		default:
			p.job.MakesLoad(name, value)
		}
	}
}
