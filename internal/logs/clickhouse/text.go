package clickhouse

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// server reads "localhost:9000, queries 10, errors 1, QPS: 6.772, RPS: ...,
// MiB/s: ..., result RPS: ..., result MiB/s: ...." of any version.
func (p *parser) server(text []byte) {
	if p.now == nil { // the lines above are missing
		p.need()
		p.now = &report{Line: p.Number(), Run: len(p.log.Runs) - 1}
	}
	var s serverTotal
	at := bytes.Index(text, []byte("QPS: "))
	era := s.head(text[:at])
	if !s.rates(text[at:]) {
		if point, changed := format.Commas(text); !changed || !s.rates(point[at:]) {
			p.Add(p.Number(), unknownFigures, record.Said{})
			return
		}
		p.Comma()
	}
	if p.run.Era == "" {
		p.run.Era = era
	}
	if len(p.now.Servers) > 0 && len(p.now.Servers[0].Quantiles) > 0 { // another report, without its first line
		p.start()
		p.run.Era = era
		p.now = &report{Line: p.Number(), Run: len(p.log.Runs) - 1}
	}
	p.now.Servers = append(p.now.Servers, s)
}

// head reads the text before QPS and returns the era.
func (s *serverTotal) head(text []byte) (era string) {
	text = bytes.TrimRight(text, ", ")
	if len(text) == 0 {
		return "1.1 to 18.x"
	}
	parts := bytes.Split(text, []byte(", "))
	era = "20 to 23.7"
	for i := len(parts) - 1; i >= 0; i-- {
		last := parts[i]
		switch {
		case bytes.HasPrefix(last, []byte("queries: ")):
			s.Queries, era = format.Whole(last[9:]), "23.8 or later"
		case bytes.HasPrefix(last, []byte("queries ")):
			s.Queries = format.Whole(last[8:])
		case bytes.HasPrefix(last, []byte("errors: ")):
			s.Errors = format.Whole(last[8:])
		case bytes.HasPrefix(last, []byte("errors ")):
			s.Errors = format.Whole(last[7:])
		default: // the name of the server
			if bytes.HasPrefix(parts[0], []byte("connection ")) {
				era = "19.x"
			}
			return era
		}
	}
	return era
}

// rates reads five figures and keeps the first. All must be there, with nothing behind them.
func (s *serverTotal) rates(text []byte) bool {
	var x [5]format.Num
	c := format.Cursor{B: text}
	for i, label := range []string{"QPS: ", ", RPS: ", ", MiB/s: ", ", result RPS: ", ", result MiB/s: "} {
		c.Lit(label)
		x[i] = c.Some()
	}
	// The full stop may have been read as a decimal point.
	if c.Bad || string(text[c.I:]) != "." && (c.I != len(text) || text[c.I-1] != '.') {
		return false
	}
	s.QPS = x[0]
	return true
}

// percentileLine matches a percentile behind whatever a log collector, a search or a quotation puts before it.
var percentileLine = regexp.MustCompile(`(?:^|[^\d.])(\d{1,3}(?:\.\d+)?%\s+\d[\d.,]* sec\..*)$`)

// percentile reads "99.000%\t\t0.150 sec.\t0.155 sec.\t", with one column for each server.
func (p *parser) percentile(text []byte) bool {
	if m := percentileLine.FindSubmatch(text); m != nil {
		text = m[1]
	}
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
		if point, changed := format.Commas(column); changed {
			column = point
			p.Comma()
		}
		s := &p.now.Servers[i]
		s.Quantiles = append(s.Quantiles, format.Quantile{Q: format.Share(percent), Seconds: format.Whole(column).NonZero()})
	}
	return true
}
