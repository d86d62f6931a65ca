package clickhouse

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

// server reads "localhost:9000, queries 10, errors 1, QPS: 6.772, RPS: ...,
// MiB/s: ..., result RPS: ..., result MiB/s: ...." of any era.
func (p *parser) server(text []byte) {
	n := p.lines.Number()
	if p.now == nil {
		p.bare(n)
	}
	var s Server
	at := bytes.Index(text, []byte("QPS: "))
	era := s.head(text[:at])
	if !s.rates(text[at:]) {
		if point, changed := format.Commas(text); changed && s.rates(point[at:]) {
			p.warn.Once(n, "numbers with a decimal comma were read as if it were a point", "check that they are not thousands separators")
		} else {
			p.warn.Add(n, "a line of figures that is cut off or of an unknown version was left out", "")
			return
		}
	}
	if p.run.Era == "" {
		p.run.Era = era
	}
	if len(p.now.Servers) > 0 && len(p.now.Servers[0].Quantiles) > 0 {
		return // belongs to no report: its head is missing
	}
	p.now.Servers = append(p.now.Servers, s)
}

// bare begins a run that has only the lines from here on.
func (p *parser) bare(n int) {
	if p.run == nil || p.run.Form == "json" {
		p.start()
	}
	p.now = &Report{Line: n, Run: len(p.log.Runs) - 1}
}

// head reads what stands before QPS and says of which era that is.
func (s *Server) head(text []byte) (era string) {
	text = bytes.TrimRight(text, ", ")
	if len(text) == 0 {
		return "1.1 to 18.x"
	}
	parts := bytes.Split(text, []byte(", "))
	era = "20 to 23.7"
	for len(parts) > 0 {
		last := parts[len(parts)-1]
		switch {
		case bytes.HasPrefix(last, []byte("queries: ")):
			s.Queries, era = format.Whole(last[9:]), "23.8 or later"
		case bytes.HasPrefix(last, []byte("queries ")):
			s.Queries = format.Whole(last[8:])
		case bytes.HasPrefix(last, []byte("errors: ")):
			s.Errors = format.Whole(last[8:])
		case bytes.HasPrefix(last, []byte("errors ")):
			s.Errors = format.Whole(last[7:])
		default:
			s.Name = string(bytes.ToValidUTF8(bytes.Join(parts, []byte(", ")), []byte("?")))
			if bytes.HasPrefix(parts[0], []byte("connection ")) {
				era = "19.x"
			}
			return era
		}
		parts = parts[:len(parts)-1]
	}
	return era
}

// rates reads the five figures; all have to be there and nothing behind them.
func (s *Server) rates(text []byte) bool {
	for _, f := range []struct {
		label string
		into  *format.Num
		unit  float64
	}{
		{"QPS: ", &s.QPS, 1}, {", RPS: ", &s.Rows, 1}, {", MiB/s: ", &s.Bytes, mebi},
		{", result RPS: ", &s.ResultRows, 1}, {", result MiB/s: ", &s.ResultBytes, mebi},
	} {
		rest, ok := bytes.CutPrefix(text, []byte(f.label))
		x, n := format.Number(rest)
		if !ok || n == 0 || x < 0 {
			return false
		}
		*f.into = format.Some(x * f.unit)
		text = rest[n:]
		if f.label == ", result MiB/s: " && n > 0 && rest[n-1] == '.' {
			return len(text) == 0 // the full stop was taken for a decimal point
		}
	}
	return string(text) == "."
}

// percentile reads "99.000%\t\t0.150 sec.\t0.155 sec.\t": one column per server.
func (p *parser) percentile(text []byte) bool {
	label, rest, ok := bytes.Cut(text, []byte("%"))
	percent, known := format.Whole(label).Get()
	if !ok || !known || percent < 0 || percent > 100 || !bytes.Contains(rest, []byte(" sec.")) {
		return bytes.HasPrefix(text, []byte("connection 1")) // the head of the columns in 19.x
	}
	for i, column := range bytes.Split(rest, []byte(" sec.")) {
		column = bytes.TrimSpace(column)
		if len(column) == 0 || i >= len(p.now.Servers) {
			break
		}
		x := format.Whole(column)
		if point, changed := format.Commas(column); changed {
			x = format.Whole(point)
			p.warn.Once(p.lines.Number(), "numbers with a decimal comma were read as if it were a point", "check that they are not thousands separators")
		}
		s := &p.now.Servers[i]
		s.Quantiles = append(s.Quantiles, format.Quantile{Q: format.Share(percent), Seconds: x.Positive()})
	}
	return true
}
