package fio

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const (
	kind    format.Kind = "fio"     // JSON, text and terse
	logs    format.Kind = "fio-log" // one line per I/O or average
	logsOf2 format.Kind = "fio2-log"
	logsOf3 format.Kind = "fio3-log"
)

// declared describes fio's output.
var declared = &format.Tool{
	Name: Program, Programs: []string{Program},
	Kind:  kind,
	Noise: regexp.MustCompile(`^(?:\.\.\.|\S+: Laying out|verify: |Jobs: \d|Disk stats|\S+: ios=|f=\d|<\S+> (?:Starting |f=|\S+: Laying)|bw \(|iops  |lat \(|cpu  |IO depths|submit  |complete  |issued |latency   |(?:READ|WRITE|TRIM|MIXED): |[sc]?lat \(|\| |(?:read|write|trim)\s*: )`),
	Begins: []string{"Run status group ", "fio-2.", "fio-3.", `"fio version"`, `"job options"`, "read: IOPS=", "write: IOPS=",
		"issued rwts: ", "clat percentiles ("},
	IsLine:   itsLine,
	ReportAt: func(line []byte) int { return bytes.Index(line, []byte("Run status group ")) },
	Keys:     [][]string{{"fio version"}, {"jobname", "groupid"}},
	Era:      era,
	Shapes: []format.Shape{{Kind: logs, Line: logNumbers, AllLines: true, Confidence: format.Guess,
		NameFits: func(name string) bool { return kindOf(name) != "" }}},
}

// Reader reads what fio prints and the logs that it writes.
var Reader = observed.Reader{Tool: declared, Versions: "2.1 to 3.42", Kinds: []observed.Kind{
	{Name: kind, Read: importFile},
	{Name: logs, Read: logReader(0), Whole: wholeLog},
	{Name: logsOf2, Read: logReader(2), Whole: wholeLog},
	{Name: logsOf3, Read: logReader(3), Whole: wholeLog},
}}

// itsLine reports lines of reports and terse lines.
func itsLine(b []byte) bool {
	return groupStatus.Match(b) || ofDirection.Match(b) || format.Has(b, ": (groupid=") && format.Has(b, "): err=") || format.Has(b, ": (g=") && format.Has(b, "): rw=") ||
		b[0] >= '2' && b[0] <= '5' && b[1] == ';' && bytes.Count(b, []byte(";")) > 30 // terse
}

// logNumbers reports a line of a log: time, value, direction, size ...
func logNumbers(line []byte) bool {
	fields := bytes.Split(line, []byte(","))
	if len(fields) < 3 || len(fields) > 7 {
		return false
	}
	for _, f := range fields {
		f = bytes.TrimSpace(f)
		if !format.Whole(f).Known() && !bytes.HasPrefix(f, []byte("0x")) {
			return false
		}
	}
	direction := bytes.TrimSpace(fields[2])
	return len(direction) == 1 && direction[0] >= '0' && direction[0] <= '3'
}

func era(b []byte) string {
	if i := bytes.Index(b, []byte("fio-")); i >= 0 {
		return string(b[i+4 : i+4+version(b[i+4:])])
	}
	return ""
}

// version returns the length of a version such as 3.33 or 3.36-12-gab at the beginning of b.
func version(b []byte) int {
	i := 0
	for i < len(b) && (b[i]-'0' <= 9 || b[i]-'a' <= 'z'-'a' || b[i] == '.' || b[i] == '-') {
		i++
	}
	return i
}
