package redis

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// field reads a line of a report.
func (p *parser) field(s string) bool {
	if p.row && strings.Trim(s, " 0123456789.-+naif") == "" {
		return p.latencies(s)
	}
	if at := strings.Index(s, "% <= "); at > 0 && at < 12 {
		return p.bound(s, at)
	}
	x := format.Leading([]byte(s))
	_, value, _ := strings.Cut(s, ": ")
	v := format.Leading([]byte(value))
	switch {
	case strings.Contains(s, " requests completed in ") && strings.HasSuffix(s, " seconds"):
		if p.named != "" || p.run == nil || p.run.begun() {
			p.start(p.named)
		}
		_, seconds, _ := strings.Cut(s, " completed in ")
		r := p.need()
		r.Requests, r.Seconds = x, format.Leading([]byte(seconds)).NonZero()
	case strings.HasSuffix(s, " parallel clients"):
		p.need().Clients = x
	case strings.HasSuffix(s, " bytes payload"):
		p.need().Payload = x
	case strings.HasPrefix(s, "keep alive: "):
		p.need().KeepAlive = v
	case strings.HasPrefix(s, "threads: "):
		p.need().Threads = v
	case strings.HasPrefix(s, "cluster mode: yes ("):
		p.need().Nodes = format.Leading([]byte(s[len("cluster mode: yes ("):]))
	case strings.HasPrefix(s, "target RPS: "):
		p.need().Target = v.NonZero()
	case p.persistence(s):
	case strings.HasPrefix(s, "throughput summary: "):
		p.setRate(p.need(), v)
	case strings.HasSuffix(s, " requests per second"): // alone on its line: before 6.2
		r := p.need()
		p.setRate(r, x)
		r.Complete = true
		p.end()
	case s == "latency summary (msec):":
		p.need()
		p.row = true
	default:
		return noFigures(s)
	}
	return true
}

// noFigures reports lines without a figure that tare uses.
func noFigures(s string) bool {
	for _, known := range []string{"multi-thread: ", "node [", "Latency by percentile distribution:", "Cumulative distribution of latencies:",
		"Summary:", "RPS Summary:", "RPS distribution", "avg ", "WARNING: ", "WARN: "} {
		if strings.HasPrefix(s, known) {
			return true
		}
	}
	return strings.Trim(s, " 0123456789.") == "" // the distribution of rates
}

// persistence reads the server's settings save and appendonly. A cluster prints them for every node; different
// values are joined with a slash.
func (p *parser) persistence(s string) bool {
	s = strings.TrimPrefix(s, "host configuration ")
	name, value, ok := strings.Cut(s, ":")
	if value = strings.TrimSpace(value); !ok {
		return false
	}
	if value == "" || value == "NONE" {
		value = "none"
	}
	switch strings.Trim(name, `"`) {
	case "save":
		join(&p.need().Save, value)
	case "appendonly":
		join(&p.need().AppendOnly, value)
	default:
		return false
	}
	return true
}

func join(into *string, value string) {
	value = strings.ToValidUTF8(value[:min(len(value), 60)], "?")
	switch {
	case *into == "":
		*into = value
	case !slices.Contains(strings.Split(*into, " / "), value) && len(*into) < 200:
		*into += " / " + value
	}
}

// bound reads "99.902% <= 0.215 milliseconds (cumulative count 19982)"; before 6.2 there is no count.
func (p *parser) bound(s string, at int) bool {
	c := format.Cursor{B: []byte(s)}
	share := c.Num()
	if c.I != at {
		return false
	}
	c.Lit("% <= ")
	ms := c.Num()
	c.Lit(" milliseconds")
	b := bound{Share: format.Share(share), Seconds: ms / milli}
	coarse := true
	if c.Try(" (cumulative count ") {
		b.Count, coarse = c.Num(), false
		c.Lit(")")
	}
	if c.Bad || c.I != len(s) || share > 100 {
		return false
	}
	r := p.need()
	r.Coarse = coarse
	if len(r.Distribution) < 100_000 {
		r.Distribution = append(r.Distribution, b)
	}
	return true
}

// latencies reads the numbers under avg, min, p50, p95, p99 and max.
func (p *parser) latencies(s string) bool {
	f := strings.Fields(s)
	if len(f) != 6 {
		return false
	}
	r := p.need()
	var x [6]format.Num
	for i := range f {
		x[i] = format.Whole([]byte(f[i]))
	}
	p.setLatencies(r, x)
	r.Complete = true
	p.end()
	return true
}

// setLatencies sets avg, min, p50, p95, p99 and max, in milliseconds.
func (p *parser) setLatencies(r *run, x [6]format.Num) {
	if x[5].Known() && !inOrder(x) {
		p.Add(p.Number(), notInOrder, lookAtLog)
		return
	}
	if most, ok := x[5].Get(); ok && most >= 3000 {
		p.Doubt(latenciesAt3s, record.Said{})
	}
	for i := range x {
		x[i] = x[i].NonZero().Over(milli)
	}
	r.Latency = &latency{Avg: x[0], Min: x[1], P50: x[2], P95: x[3], P99: x[4], Max: x[5]}
}

// inOrder reports that min, p50, p95, p99 and max do not fall and that avg lies between min and max. Missing
// values are skipped. The tolerance is the width of bins, 0.1 %.
func inOrder(x [6]format.Num) bool {
	last := 0.0
	for _, n := range x[1:] {
		if v, ok := n.Get(); ok {
			if v < last*0.995-0.002 {
				return false
			}
			last = max(last, v)
		}
	}
	avg, ok := x[0].Get()
	low, _ := x[1].Get()
	return !ok || avg <= last*1.005+0.002 && avg >= low*0.995-0.002
}

// heading is the heading of --csv since 6.2. Before, lines had its first two columns and no heading.
var heading = []string{"test", "rps", "avg_latency_ms", "min_latency_ms", "p50_latency_ms", "p95_latency_ms", "p99_latency_ms", "max_latency_ms"}

// csv reads a line of --csv. The name of a test may be a command with quotation marks and commas, so columns
// are counted from the end.
func (p *parser) csv(text []byte) bool {
	sep := []byte(`","`)
	if text[0] != '"' {
		sep = []byte(",")
	}
	f := bytes.Split(bytes.Trim(text, `"`), sep)
	if len(f) == len(heading) && string(f[0]) == heading[0] && string(f[1]) == heading[1] {
		p.columns = heading
		return true
	}
	n := len(p.columns)
	if n == 0 {
		if n = 2; !csvRow(text) {
			return false
		}
	}
	if len(f) < n {
		return false
	}
	name := bytes.Join(f[:len(f)-n+1], sep)
	f = f[len(f)-n+1:]
	var x [7]format.Num
	for i := range f {
		if x[i] = format.Whole(f[i]); !x[i].Known() && !bytes.Contains(f[i], []byte("inf")) && !bytes.Contains(f[i], []byte("nan")) {
			return false
		}
	}
	p.end()
	r := p.start(string(name))
	if p.setRate(r, x[0]); n > 2 {
		p.setLatencies(r, [6]format.Num(x[1:]))
	}
	r.Complete = true
	p.end()
	return true
}
