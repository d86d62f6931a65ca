package format

import (
	"bytes"
	"strings"
)

// Kind is what a file is: which reader takes it. Each reader declares its own.
type Kind string

// Unknown is a file that no reader takes.
const Unknown Kind = ""

// Confidence is how sure Detect is.
type Confidence int

// The degrees.
const (
	None    Confidence = iota
	Guess              // the shape fits, and nothing speaks against it
	Likely             // the shape fits only this
	Certain            // the tool's own words
)

var confidenceNames = [...]string{"none", "guess", "likely", "certain"}

func (c Confidence) String() string { return confidenceNames[min(max(c, 0), Certain)] }

// Found is the answer of Detect.
type Found struct {
	Kind Kind
	// Tool is whose output it is; nil for nobody's. One that is not read has no Kind.
	Tool *Tool
	// Era is the version or the span of versions, as far as the text tells:
	// "1.0.20", "0.5", "2.x", "20 to 23.7"; empty when it does not.
	Era        string
	Confidence Confidence
	Why        string // the line or shape that decided
}

// Detect says what wrote a file, from the beginning of its text (see Open).
// The name only breaks ties between formats that look the same.
func (l Tools) Detect(name string, head []byte) Found {
	f, unread := Found{}, Found{}
	shape, marks, page := shapes{tools: l}, l.learn(head), learnMarkup(head)
	for n := 1; len(head) > 0; n++ {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		line = page.strip(marks.bare(unstamp(bytes.TrimRight(line, "\r"))))
		shape.look(line)
		t := l.of(line)
		if t == nil {
			continue
		}
		if t.Kind == Unknown { // it counts only where no tool that is read is there
			if unread.Tool == nil {
				unread = Found{Tool: t, Confidence: Certain, Why: clip(line)}
			}
			continue
		}
		if f.Tool == nil {
			f = Found{Kind: t.Kind, Tool: t, Confidence: Certain, Why: clip(line)}
		}
		if t != f.Tool {
			break // another tool's output begins
		}
		if f.Era == "" {
			f.Era = t.era(bytes.TrimLeft(line, " \t"))
		}
	}
	if f.Tool == nil {
		f = unread
	}
	if f.Tool == nil {
		f = shape.found(name)
	}
	if f.Tool == nil {
		f.Why = shape.why()
	}
	return f
}

func clip(line []byte) string {
	s := string(bytes.TrimSpace(line))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}
