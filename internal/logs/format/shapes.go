package format

import (
	"bytes"
)

// shapes looks at files without a single word of their tool in them: logs of
// numbers, tables, JSON.
type shapes struct {
	tools  Tools
	lines  int // not empty
	first  string
	counts map[*Shape]int
	json   []byte // the beginning of a JSON document
	alone  bool   // nothing stands before it
}

// maxJSON is how much of a document decides what it is.
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
			if x := &t.Shapes[i]; (!x.First || s.lines == 1) && x.Line(line) {
				s.counts[x]++
			}
		}
	}
}

// arrayBegins says whether an array of JSON can begin on the line: a bracket, and then the end or
// the beginning of a value. People and tools write words in brackets, too.
func arrayBegins(line []byte) bool {
	if line[0] != '[' {
		return false
	}
	rest := bytes.TrimSpace(line[1:])
	return len(rest) == 0 || bytes.IndexByte([]byte(`{["`), rest[0]) >= 0
}

// found is the first shape that the file has.
func (s *shapes) found(name string) Found {
	if s.json != nil {
		if t := s.tools.ofJSON(s.json); t != nil {
			return Found{Kind: t.Kind, Tool: t, Confidence: Certain, Era: t.era(s.json), Why: "the JSON keys of " + t.Name}
		}
		if s.alone {
			return Found{}
		}
	}
	for _, t := range s.tools {
		for i := range t.Shapes {
			x := &t.Shapes[i]
			if n := s.counts[x]; n == 0 || x.Every && n < s.lines {
				continue
			}
			f := Found{Kind: x.Kind, Tool: t, Era: x.Era, Confidence: x.Sure, Why: s.first}
			if x.NameSays != nil && x.NameSays(name) {
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
		return "there is no text in it"
	case s.alone:
		return "JSON, but none of the keys of a tool that is known"
	}
	return "no line that a known tool writes; it begins with: " + s.first
}
