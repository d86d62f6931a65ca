package pgbench

import (
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
)

// line reads a line that is no progress line.
func (p *parser) line(text []byte) bool {
	s := string(text[:min(len(text), 400)])
	switch {
	case strings.Contains(s, "Run was aborted; the above results are incomplete"):
		p.need()
		p.Add(p.Number(), aborted, seeAbove)
	case strings.HasPrefix(s, "pgbench ("):
		p.start(true)
		p.version(s[len("pgbench ("):])
	case strings.HasPrefix(s, "starting vacuum"):
		if p.run == nil || p.summary {
			p.start(true)
		}
	case strings.HasPrefix(s, "transaction type: "):
		if p.run == nil || p.summary {
			p.start(false)
		}
		p.summary = true
		p.need().Type = s[len("transaction type: "):]
	case failure.MatchString(s):
		if p.run == nil || p.run.Complete() {
			p.start(false)
		}
		p.need().Failures.Fail(p.Number(), text)
	case p.run != nil && p.summary && p.run.script(s):
		p.need()
	case !inSummary(s):
		return p.run != nil && p.summary && p.need().field(s)
	default:
		if p.run == nil || p.run.Complete() && !strings.HasPrefix(s, "tps = ") { // another report, without its top
			p.start(false)
		}
		p.summary = true
		return p.need().field(s)
	}
	return true
}

// failure matches error lines. Threads write at the same time, so that a prefix may be repeated or lost.
var failure = regexp.MustCompile(`^(?:pgbench: )*(?:error|fatal): |^(?:pgbench: )*Connection to database |^(?:pgbench: |error: )*client \d+ .*(?:aborted in |failed)`)

// inSummary reports a line that only a summary has. It recognises a summary without its first lines.
func inSummary(s string) bool {
	for _, key := range []string{"scaling factor: ", "query mode: ", "number of clients: ", "number of threads: ",
		"number of transactions actually processed: ", "latency average", "tps = "} {
		if strings.HasPrefix(s, key) {
			return true
		}
	}
	return false
}

// script reads the lines about single scripts: "SQL script 1: <builtin: select only>", "- 12421 transactions
// (75.1% of total, tps = 6537.980927)", "- latency average = 0.115 ms".
func (r *run) script(s string) bool {
	if rest, ok := strings.CutPrefix(s, "SQL script "); ok {
		_, name, named := strings.Cut(rest, ": ")
		if named && len(r.Scripts) < 1000 {
			r.Scripts = append(r.Scripts, script{Name: name})
		}
		return named
	}
	rest, ok := strings.CutPrefix(s, "- ")
	if !ok || len(r.Scripts) == 0 {
		return false
	}
	last := &r.Scripts[len(r.Scripts)-1]
	if _, tps, has := strings.Cut(rest, "tps = "); has {
		last.TPS = format.Leading([]byte(tps))
	}
	if _, ms, has := strings.Cut(rest, "latency average = "); has {
		last.Latency = format.Leading([]byte(ms)).Over(milli).NonZero()
	}
	return true
}

// version reads "15.18 (Debian 15.18-0+deb12u1))" or "16.1, server 15.2)".
func (p *parser) version(s string) {
	p.run.Version = s[:len(s)-len(strings.TrimLeft(s, "0123456789.abcdelpthrv"))]
	if x, ok := format.Leading([]byte(p.run.Version)).Get(); ok && x >= 19 {
		p.Doubt(unknownVersion(p.run.Version), checkFigures)
	}
	if _, server, ok := strings.Cut(s, ", server "); ok {
		p.run.Server, _, _ = strings.Cut(strings.TrimRight(server, ")"), " ")
	}
}

// field reads "key: value" and "key = value" of the summary, except lines about scripts and statements.
func (r *run) field(s string) bool {
	if value, ok := strings.CutPrefix(s, "tps = "); ok {
		return r.tps(value)
	}
	key, value, ok := strings.Cut(s, " = ")
	if !ok {
		key, value, ok = strings.Cut(s, ": ") // latencies before 10, and all else
	}
	x := format.Leading([]byte(value))
	if limit, is := strings.CutPrefix(key, "number of transactions above the "); is && strings.HasSuffix(limit, " ms latency limit") {
		r.Above, r.Limit = inBrackets(value), format.Leading([]byte(limit)).Over(milli)
		return true
	}
	switch key {
	case "rate limit schedule lag":
		r.Limited = true
	case "average connection time":
		r.Reconnects = true
	case "latency average":
		if !strings.Contains(value, "ms") {
			return false
		}
		r.Latency = x.Over(milli).NonZero()
	case "query mode":
		r.QueryMode = value
	case "scaling factor":
		r.Scale = x
	case "number of clients":
		r.Clients = x
	case "number of threads":
		r.Threads = x
	case "duration":
		r.Duration = x
	case "number of failed transactions", "number of errors":
		r.Failed = x
	case "number of transactions actually processed":
		r.Done = x // of "1000/1000" too
	case "number of transactions skipped":
		r.Skipped = inBrackets(value)
	default:
		return false
	}
	return ok
}

// inBrackets reads the share in "19/150 (12.667%)".
func inBrackets(value string) format.Num {
	_, part, _ := strings.Cut(value, "(")
	return format.Leading([]byte(part)).Over(100)
}

// tps reads "51.321424 (without initial connection time)" since 14, and "(excluding connections
// establishing)" and "(including ...)" before.
func (r *run) tps(value string) bool {
	x := format.Leading([]byte(value))
	switch {
	case strings.Contains(value, "(without initial connection"), strings.Contains(value, "(excluding connections"):
		r.TPS = x
		r.Initial = r.Initial || strings.Contains(value, "(without initial")
	case strings.Contains(value, "(including"):
		r.TPSConnecting = x
		r.Reconnects = r.Reconnects || strings.Contains(value, "reconnection")
	default:
		return false
	}
	return true
}
