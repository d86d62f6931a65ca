package format

import (
	"bytes"
)

// shapes recognises files without any word of their tool: logs of numbers, tables, JSON.
type shapes struct {
	tools  Tools
	lines  int // without empty ones
	first  string
	counts map[*Shape]int
	json   []byte // the beginning of a JSON document
	alone  bool   // the document begins on the first line
}

// maxJSON is how many bytes of a document are searched for keys.
const maxJSON = 4096

func (s *shapes) look(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if s.lines++; s.lines == 1 {
		s.first = clip(line)
		s.counts = map[*Shape]int{}
	}
	if s.json != nil || s.lines == 1 && (BeginsJSON(line) || arrayBegins(line)) || string(line) == "{" {
		s.alone = s.alone || s.lines == 1
		if len(s.json) < maxJSON {
			s.json = append(append(s.json, line...), '\n')
		}
		return
	}
	for _, t := range s.tools {
		for i := range t.Shapes {
			if x := &t.Shapes[i]; (!x.FirstLine || s.lines == 1) && x.Line(line) {
				s.counts[x]++
			}
		}
	}
}

// arrayBegins reports whether a JSON array can begin on the line: a bracket, and behind it nothing or
// the beginning of a value. Other text has words behind the bracket.
func arrayBegins(line []byte) bool {
	if line[0] != '[' {
		return false
	}
	rest := bytes.TrimSpace(line[1:])
	return len(rest) == 0 || bytes.IndexByte([]byte(`{["`), rest[0]) >= 0
}

// found returns the first tool whose keys or shape the file has.
func (s *shapes) found(name string) Found {
	if s.json != nil {
		if t := s.tools.ofJSON(s.json); t != nil {
			return Found{Kind: t.Kind, Tool: t, Confidence: Certain, Era: t.era(s.json), Why: keysOf(t.Name)}
		}
		if s.alone {
			return Found{}
		}
	}
	for _, t := range s.tools {
		for i := range t.Shapes {
			x := &t.Shapes[i]
			if n := s.counts[x]; n == 0 || x.AllLines && n < s.lines {
				continue
			}
			f := Found{Kind: x.Kind, Tool: t, Era: x.Era, Confidence: x.Confidence, Why: s.first}
			if x.NameFits != nil && x.NameFits(name) {
				f.Confidence = Likely
			}
			return f
		}
	}
	return Found{}
}

func (s *shapes) why() string {
	switch {
	case s.lines == 0:
		return noText
	case s.alone:
		return otherKeys
	}
	return noKnownLine(s.first)
}
