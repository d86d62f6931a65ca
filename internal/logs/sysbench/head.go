package sysbench

import (
	"bytes"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/record"
)

// top reads lines above the first report, and messages, which can be anywhere.
func (p *parser) top(text []byte) bool {
	n := p.Number()
	switch {
	case bytes.HasPrefix(text, []byte("sysbench ")) && len(text) > 9 && text[9]-'0' <= 9:
		word, _, _ := bytes.Cut(text[9:], []byte(" "))
		p.version, p.banner = string(bytes.TrimSuffix(word, []byte(":"))), n
		p.head = false
		if !knownVersion(p.version) {
			p.Doubt(unknownVersion(p.version), checkFigures)
		}
	case string(text) == "Running the test with following options:":
		p.start(true)
	case bytes.HasPrefix(text, []byte("FATAL: ")), bytes.HasPrefix(text, []byte("ALERT: ")):
		p.need()
		p.run.Failures.Fail(n, text)
		p.run.End = n
	case text[0] == '[' && bytes.HasSuffix(text, []byte("] Checkpoint report:")):
		p.need()
		p.run.Checkpoints++
		p.scratch, p.summary, p.section = &Run{}, true, none
	case p.head:
		return p.option(text)
	default:
		return false
	}
	return true
}

func knownVersion(v string) bool {
	for _, known := range []string{"0.4", "0.5", "1.0", "1.1"} {
		if strings.HasPrefix(v, known) {
			return true
		}
	}
	return false
}

// option reads a line between the first line of options and the first report.
func (p *parser) option(text []byte) bool {
	r := p.run
	switch {
	case bytes.HasPrefix(text, []byte("Threads started!")):
		p.head = false
		r.End = p.Number()
	case setting(text, "Number of threads: ", &r.Threads),
		setting(text, "Target transaction rate: ", &r.Rate),
		setting(text, "Warmup time: ", &r.Warmup):
	case text[0] == '[' || p.Theirs(text):
		return false
	default:
		r.options(text)
	}
	return true
}

// setting reads the number behind a label.
func setting(text []byte, label string, into *format.Num) bool {
	rest, ok := bytes.CutPrefix(text, []byte(label))
	if ok {
		*into = format.Leading(rest)
	}
	return ok
}

// options has lines that describe a test: the beginning of the line, the test that prints it, and the name
// of the setting whose value follows.
var options = []struct{ text, test, setting string }{
	{"Prime numbers limit: ", "cpu", primeLimit}, {"Primer numbers limit: ", "cpu", primeLimit},
	{"Maximum prime number checked in CPU test: ", "cpu", primeLimit}, {"Doing CPU performance benchmark", "cpu", ""},
	{"Running memory speed test", "memory", ""}, {"Doing memory operations", "memory", ""},
	{"Memory block size: ", "memory", blockSize}, {"block size: ", "memory", blockSize},
	{"Memory operations type: ", "memory", "operation"}, {"operation: ", "memory", "operation"},
	{"Memory scope type: ", "memory", "scope"}, {"scope: ", "memory", "scope"},
	{"Extra file open flags: ", "fileio", fileFlags}, {"Block size ", "fileio", blockSize},
	{"Periodic FSYNC enabled, calling fsync() each ", "fileio", fsyncEvery},
	{"Doing OLTP test", "oltp", ""}, {"Running mixed OLTP test", "oltp", oltpTest}, {"Running simple OLTP test", "oltp", oltpTest},
	{"Doing ", "", "test"}, {"Using synchronous I/O", "fileio", "I/O"}, {"Using asynchronous I/O", "fileio", "I/O"},
}

// options reads a line that describes the test.
func (r *Run) options(text []byte) bool {
	for _, o := range options {
		rest, ok := bytes.CutPrefix(text, []byte(o.text))
		if !ok {
			continue
		}
		r.test(o.test)
		switch o.setting {
		case "":
		case oltpTest, "I/O": // the line itself is the value
			r.set(o.setting, o.text[strings.IndexByte(o.text, ' ')+1:])
		case "test":
			mode, is := bytes.CutSuffix(rest, []byte(" test"))
			if !is {
				return false
			}
			r.set(o.setting, string(mode))
		default:
			r.set(o.setting, plain(o.setting, string(rest)))
		}
		return true
	}
	if n, size, ok := bytes.Cut(text, []byte(" files, ")); ok && bytes.HasSuffix(size, []byte(" each")) {
		r.set("files", filesOf(string(n), observed.Bytes(string(bytes.TrimSuffix(size, []byte(" each"))))))
		return true
	}
	return false
}

// plain spells the value of a setting as in all versions.
func plain(name, value string) string {
	switch {
	case name == blockSize:
		return observed.Bytes(value)
	case value == "0" || value == "(none)":
		return "none"
	}
	return strings.TrimSuffix(value, ".")
}

// set adds a setting, unless the run has it.
func (r *Run) set(name, value string) {
	for _, s := range r.Settings {
		if s.Name == name {
			return
		}
	}
	if value = string(bytes.ToValidUTF8([]byte(value), []byte("?"))); len(value) > 0 && len(value) <= 60 {
		r.Settings = append(r.Settings, record.Setting{Name: name, Got: value})
	}
}
