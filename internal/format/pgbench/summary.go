package pgbench

import (
	"bytes"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

// line takes a line that is no progress.
func (p *parser) line(line, text []byte) bool {
	s := string(text[:min(len(text), 400)])
	switch {
	case strings.Contains(s, "Run was aborted; the above results are incomplete"):
		p.need().Aborted = true
		p.warn.Add(p.lines.Number(), "pgbench says that this run was aborted and its results are incomplete", "see the error messages above it; repeat the run")
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
	case strings.HasPrefix(s, "pgbench: error: "), strings.HasPrefix(s, "pgbench: fatal: "),
		strings.HasPrefix(s, "Connection to database "), strings.HasPrefix(s, "client ") && strings.Contains(s, " aborted in "):
		p.failure(s)
	case p.run == nil || !p.summary:
		return false
	case strings.Contains(s, "statement latencies in milliseconds"):
		p.statements(s)
	case p.columns > 0 && p.statement(text):
	default:
		p.columns = 0
		p.run.End = p.lines.Number()
		return p.run.script(s) || p.run.field(s)
	}
	return true
}

// version reads "15.18 (Debian 15.18-0+deb12u1))" or "16.1, server 15.2)".
func (p *parser) version(s string) {
	p.run.Version = s[:len(s)-len(strings.TrimLeft(s, "0123456789.abcdelpthrv"))]
	if major, _, _ := strings.Cut(p.run.Version, "."); len(major) > 2 || len(major) == 2 && major > "18" {
		p.warn.Once(p.lines.Number(), "pgbench "+p.run.Version+" is not a version that is known; it was read like 18", "check the figures against the output")
	}
	if _, server, ok := strings.Cut(s, ", server "); ok {
		p.run.Server, _, _ = strings.Cut(strings.TrimRight(server, ")"), " ")
	}
}

func (p *parser) failure(s string) {
	if p.run == nil || p.run.Complete() {
		p.start(false)
	}
	r := p.need()
	r.FailureCount++
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, format.Warning{Line: p.lines.Number(), Text: strings.ToValidUTF8(s, "?")})
	}
}

// field reads "key: value" and "key = value" of the summary.
func (r *Run) field(s string) bool {
	if strings.HasPrefix(s, "tps = ") {
		return r.tps(s[len("tps = "):])
	}
	if key, value, ok := strings.Cut(s, " = "); ok {
		return r.time(key, value)
	}
	key, value, ok := strings.Cut(s, ": ")
	if !ok {
		return false
	}
	if limit, ok := strings.CutPrefix(key, "number of transactions above the "); ok {
		r.Limit = format.Leading([]byte(limit)).Over(milli)
		r.AboveLimit = format.Leading([]byte(value))
		return true
	}
	x := format.Leading([]byte(value))
	switch key {
	case "query mode":
		r.QueryMode = value
	case "latency average": // before 10
		return r.time(key, value)
	case "latency stddev":
		return r.time(key, value)
	case "rate limit schedule lag":
		r.lag(value)
	case "number of transactions actually processed":
		r.Processed = x
		if _, wanted, ok := strings.Cut(value, "/"); ok {
			r.Wanted = format.Leading([]byte(wanted))
		}
	default:
		into := r.numbers()[key]
		if into == nil {
			return strings.HasPrefix(key, "partition")
		}
		*into = x
	}
	return true
}

// numbers are the fields that are a number behind a key.
func (r *Run) numbers() map[string]*format.Num {
	return map[string]*format.Num{
		"scaling factor": &r.Scale, "number of clients": &r.Clients, "number of threads": &r.Threads,
		"maximum number of tries": &r.MaxTries, "duration": &r.Duration,
		"number of transactions per client":   &r.PerClient,
		"number of failed transactions":       &r.Failed,
		"number of serialization failures":    &r.Serialization,
		"number of deadlock failures":         &r.Deadlocks,
		"number of transactions retried":      &r.Retried,
		"total number of retries":             &r.Retries,
		"number of transactions skipped":      &r.Skipped,
		"number of errors":                    &r.Failed,
		"number of transactions with retries": &r.Retried,
	}
}

// time reads a duration in milliseconds; nan is missing.
func (r *Run) time(key, value string) bool {
	x := format.Leading([]byte(value)).Over(milli)
	if !strings.Contains(value, "ms") {
		return false
	}
	switch key {
	case "latency average":
		r.Latency = x.Positive()
		r.Derived = true
	case "latency stddev":
		r.StdDev = x
		r.Derived = false
	case "initial connection time", "average connection time":
		r.Connect = x
	default:
		return false
	}
	return true
}

// lag reads "avg 12.595 (max 221.859) ms".
func (r *Run) lag(value string) {
	if rest, ok := strings.CutPrefix(value, "avg "); ok {
		r.LagMean = format.Leading([]byte(rest)).Over(milli)
	}
	if _, rest, ok := strings.Cut(value, "(max "); ok {
		r.LagMax = format.Leading([]byte(rest)).Over(milli)
	}
}

// tps reads "51.321424 (without initial connection time)" of 14 and later,
// "(excluding connections establishing)" and "(including ...)" before.
func (r *Run) tps(value string) bool {
	x := format.Leading([]byte(value))
	switch {
	case strings.Contains(value, "(without initial connection"), strings.Contains(value, "(excluding connections"):
		r.TPS = x
	case strings.Contains(value, "(including"):
		r.TPSConnecting = x
	default:
		return false
	}
	return true
}

// script reads what is printed of the scripts of a mix.
func (r *Run) script(s string) bool {
	if rest, ok := strings.CutPrefix(s, "SQL script "); ok {
		_, name, ok := strings.Cut(rest, ": ")
		if ok && len(r.Scripts) < maxStatements {
			r.Scripts = append(r.Scripts, Script{Name: strings.ToValidUTF8(name, "?")})
		}
		return ok
	}
	rest, ok := strings.CutPrefix(s, "- ")
	if !ok || len(r.Scripts) == 0 {
		return false
	}
	t := &r.Scripts[len(r.Scripts)-1]
	if key, value, ok := strings.Cut(rest, " = "); ok && strings.HasPrefix(key, "latency ") {
		x := format.Leading([]byte(value)).Over(milli)
		if key == "latency average" {
			t.Latency = x.Positive()
		} else {
			t.StdDev = x
		}
		return true
	}
	t.count(rest)
	return true
}

func (t *Script) count(s string) {
	key, value, _ := strings.Cut(s, ": ")
	switch {
	case key == "weight":
		t.Weight = format.Leading([]byte(value))
	case strings.Contains(s, " transactions ("): // "12421 transactions (75.1% of total, tps = 6537.98)"
		t.Transactions = format.Leading([]byte(s))
		t.TPS = tpsIn(s)
	case key == "number of transactions actually processed": // since 17
		t.Transactions, t.TPS = format.Leading([]byte(value)), tpsIn(s)
	case key == "number of failed transactions":
		t.Failed = format.Leading([]byte(value))
	}
}

func tpsIn(s string) format.Num {
	_, rest, _ := strings.Cut(s, "tps = ")
	return format.Leading([]byte(rest))
}

// statements begins the list of -r; its heading says what the columns are.
func (p *parser) statements(s string) {
	p.columns = 1
	switch {
	case strings.Contains(s, "failures and retries"):
		p.columns = 3
	case strings.Contains(s, "and failures"):
		p.columns = 2
	}
}

// statement reads a line of the list.
func (p *parser) statement(text []byte) bool {
	var x [3]format.Num
	rest := text
	for i := range p.columns {
		word, after, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte(" "))
		if i == p.columns-1 || bytes.IndexByte(word, '\t') >= 0 { // before 9.6 a tab follows
			if w, a, ok := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte("\t")); ok && len(w) < len(word) {
				word, after = w, a
			}
		}
		if x[i] = format.Whole(word); !x[i].Known() {
			return false
		}
		rest = after
	}
	if len(p.run.Statements) >= maxStatements {
		return true
	}
	p.run.Statements = append(p.run.Statements, Statement{Script: max(len(p.run.Scripts)-1, 0), Latency: x[0].Over(milli),
		Failures: x[1], Retries: x[2], Text: string(bytes.ToValidUTF8(bytes.TrimSpace(rest), []byte("?")))})
	p.run.End = p.lines.Number()
	return true
}
