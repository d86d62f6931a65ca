package sysbench

import (
	"bytes"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

const (
	maxFailures = 20
	maxOptions  = 60
)

// top takes the lines above the first report, and the messages that can come
// anywhere.
func (p *parser) top(text []byte) bool {
	n := p.lines.Number()
	switch {
	case bytes.HasPrefix(text, []byte("sysbench ")) && len(text) > 9 && text[9]-'0' <= 9:
		word, _, _ := bytes.Cut(text[9:], []byte(" "))
		p.version, p.banner = string(bytes.TrimSuffix(word, []byte(":"))), n
		p.head = false
		if !knownVersion(p.version) {
			p.warn.Once(n, "sysbench "+p.version+" is not a version that is known; it was read like 1.1", "check the figures against the log")
		}
	case string(text) == "Running the test with following options:":
		p.start(true)
	case bytes.HasPrefix(text, []byte("FATAL: ")), bytes.HasPrefix(text, []byte("ALERT: ")):
		p.failure(text)
	case text[0] == '[' && bytes.HasSuffix(text, []byte("] Checkpoint report:")):
		p.checkpoint()
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

// failure keeps an error message of sysbench with its run.
func (p *parser) failure(text []byte) {
	n := p.lines.Number()
	if p.run == nil || p.closed {
		p.start(false)
	}
	p.run.FailureCount++
	p.run.End = n
	if len(p.run.Failures) < maxFailures {
		p.run.Failures = append(p.run.Failures, format.Warning{Line: n, Text: string(text[:min(len(text), 500)])})
	}
}

// checkpoint makes the summary that follows one of its own.
func (p *parser) checkpoint() {
	if p.run == nil || p.closed {
		p.start(false)
	}
	p.run.Checkpoints++
	p.scratch, p.summary, p.section = &Run{}, true, none
}

// option takes a line between the first line of options and the first report.
func (p *parser) option(text []byte) bool {
	r := p.run
	switch {
	case bytes.HasPrefix(text, []byte("Threads started!")):
		p.head = false
		r.End = p.lines.Number()
	case setting(text, "Number of threads: ", &r.Threads),
		setting(text, "Target transaction rate: ", &r.Rate),
		setting(text, "Report intermediate results every ", &r.ReportInterval),
		setting(text, "Warmup time: ", &r.Warmup):
	case bytes.HasPrefix(text, []byte("Initializing ")) && !bytes.HasPrefix(text, []byte("Initializing random")):
	case text[0] == '[' || len(r.Options) >= maxOptions || !format.Mine(text, format.Sysbench):
		return false
	default:
		r.Options = append(r.Options, string(text[:min(len(text), 200)]))
		r.options(text)
	}
	return true
}

// setting reads the number behind a label.
func setting(text []byte, label string, into *format.Num) bool {
	rest, ok := bytes.CutPrefix(text, []byte(label))
	if !ok {
		return false
	}
	*into = format.Leading(rest)
	return true
}

// options knows the test by what it says of itself.
func (r *Run) options(text []byte) {
	for _, k := range []struct{ text, test string }{
		{"Prime numbers limit", "cpu"}, {"Primer numbers limit", "cpu"},
		{"Running memory speed test", "memory"}, {"Doing memory operations", "memory"},
		{"Extra file open flags", "fileio"}, {"Doing OLTP test", "oltp"},
	} {
		if bytes.HasPrefix(text, []byte(k.text)) {
			r.test(k.test)
		}
	}
}
