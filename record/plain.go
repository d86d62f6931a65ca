package record

import (
	"bytes"
	"math"
	"strconv"
)

// plain decodes lines of blocks exactly as Append writes them: known fields, ASCII, no white space
// and no escapes. Nearly all lines of a record are such. Its methods return false for anything else,
// valid or damaged; encoding/json then decides.
type plain struct {
	b     []byte            // the rest of the line
	names map[string]string // repeated texts, to keep each once in memory
}

func newPlain() *plain { return &plain{names: map[string]string{}} }

// line decodes a whole line into l. If it returns false, l is partly filled and must be reset.
func (p *plain) line(b []byte, l *Line) bool {
	p.b = bytes.TrimSuffix(b, []byte{'\n'})
	return p.object(func(key string) bool {
		switch {
		case key == "time":
			s, ok := p.text()
			return ok && l.Time.UnmarshalText(s) == nil
		case key == "block" && l.Block == nil:
			l.Block = &Block{}
			return p.object(func(key string) bool { return p.block(key, l.Block) })
		}
		return false
	}) && len(p.b) == 0
}

func (p *plain) block(key string, b *Block) bool {
	switch key {
	case "workload":
		return p.name(&b.Workload)
	case "generation":
		return p.small(&b.Generation)
	case "number":
		return p.small(&b.Number)
	case "dropped":
		return p.name(&b.Dropped)
	case "detail":
		return p.name(&b.Detail)
	case "windows":
		return b.Windows == nil && p.windows(b)
	}
	return false
}

func (p *plain) windows(b *Block) bool {
	if !p.skip('[') {
		return false
	}
	b.Windows = make([]Window, 0, 8)
	for {
		b.Windows = append(b.Windows, Window{})
		w := &b.Windows[len(b.Windows)-1]
		if !p.object(func(key string) bool { return p.window(key, w) }) {
			return false
		}
		if !p.skip(',') {
			return p.skip(']')
		}
	}
}

func (p *plain) window(key string, w *Window) bool {
	switch key {
	case "arm":
		return p.name(&w.Arm)
	case "dropped":
		return p.name(&w.Dropped)
	case "detail":
		return p.name(&w.Detail)
	case "start":
		return p.number(&w.Start)
	case "seconds":
		return p.number(&w.Seconds)
	case "ops":
		return p.count(&w.Ops)
	case "first_ops":
		return p.count(&w.First)
	case "first_seconds":
		return p.number(&w.FirstSeconds)
	case "errors":
		return p.count(&w.Errors)
	case "cut":
		return p.count(&w.Cut)
	case "late":
		return p.count(&w.Late)
	case "backlog":
		return p.count(&w.Backlog)
	case "latency":
		s, ok := p.quoted() // base64; its decoder would skip line ends
		return ok && bytes.IndexByte(s, '\r') < 0 && w.Latency.UnmarshalText(s) == nil
	case "probes":
		return p.values(&w.Probes)
	case "values":
		return p.values(&w.Values)
	case "neighbour":
		return p.values(&w.Neighbour)
	case "freeze_seconds":
		return p.number(&w.Freeze)
	case "thaw_seconds":
		return p.number(&w.Thaw)
	}
	return false
}

func (p *plain) values(m *map[string]Value) bool {
	if *m == nil {
		*m = make(map[string]Value, 48)
	}
	return p.object(func(key string) bool {
		if len(p.b) > 0 && p.b[0] == '{' {
			var why Said
			ok := p.object(func(key string) bool { return key == "missing" && p.said(&why) })
			(*m)[key] = Missing(why)
			return ok
		}
		var x float64
		ok := p.number(&x)
		(*m)[key] = Number(x)
		return ok
	})
}

// said reads a code without values, or a text.
func (p *plain) said(s *Said) bool {
	var code, text string
	if len(p.b) == 0 || p.b[0] != '{' {
		ok := p.name(&text)
		*s = InProse(text)
		return ok
	}
	ok := p.object(func(key string) bool { return key == "code" && p.name(&code) || key == "text" && p.name(&text) })
	if *s = (Said{Code: code}); code == Prose {
		*s = InProse(text)
	}
	return ok && (text == "" || code == Prose)
}

// object reads {"key":value,...} and calls field to read the value of each key.
func (p *plain) object(field func(key string) bool) bool {
	if !p.skip('{') {
		return false
	}
	if p.skip('}') {
		return true
	}
	for {
		var key string
		if !p.name(&key) || !p.skip(':') || !field(key) {
			return false
		}
		if !p.skip(',') {
			return p.skip('}')
		}
	}
}

func (p *plain) skip(c byte) bool {
	if len(p.b) == 0 || p.b[0] != c {
		return false
	}
	p.b = p.b[1:]
	return true
}

// quoted reads the bytes between two quotation marks.
func (p *plain) quoted() ([]byte, bool) {
	if !p.skip('"') {
		return nil, false
	}
	end := bytes.IndexByte(p.b, '"')
	if end < 0 {
		return nil, false
	}
	s := p.b[:end]
	p.b = p.b[end+1:]
	return s, true
}

// text reads a string of printable ASCII without escapes.
func (p *plain) text() ([]byte, bool) {
	s, ok := p.quoted()
	for _, c := range s {
		ok = ok && c >= ' ' && c <= '~' && c != '\\'
	}
	return s, ok
}

// mostNames bounds names: a record may have a different detail for each window.
const mostNames = 1000

func (p *plain) name(to *string) bool {
	s, ok := p.text()
	if !ok {
		return false
	}
	known, ok := p.names[string(s)]
	if !ok {
		known = string(s)
		if len(p.names) < mostNames {
			p.names[known] = known
		}
	}
	*to = known
	return true
}

// digits skips digits and returns their number.
func (p *plain) digits() int {
	n := 0
	for n < len(p.b) && p.b[n]-'0' <= 9 {
		n++
	}
	p.b = p.b[n:]
	return n
}

// whole skips a whole number without sign or leading zeros.
func (p *plain) whole() bool {
	return p.skip('0') || p.digits() > 0
}

func (p *plain) number(to *float64) bool {
	from := p.b
	p.skip('-')
	ok := p.whole()
	if p.skip('.') {
		ok = ok && p.digits() > 0
	}
	if p.skip('e') || p.skip('E') {
		_ = p.skip('-') || p.skip('+')
		ok = ok && p.digits() > 0
	}
	if !ok {
		return false
	}
	x, err := strconv.ParseFloat(string(from[:len(from)-len(p.b)]), 64)
	*to = x
	return err == nil
}

func (p *plain) count(to *uint64) bool {
	from := p.b
	if !p.whole() {
		return false
	}
	n, err := strconv.ParseUint(string(from[:len(from)-len(p.b)]), 10, 64)
	*to = n
	return err == nil
}

func (p *plain) small(to *int) bool {
	var n uint64
	ok := p.count(&n)
	*to = int(n & math.MaxInt)
	return ok && n <= math.MaxInt
}
