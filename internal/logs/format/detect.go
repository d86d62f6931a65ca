package format

import (
	"bytes"
	"strings"
)

// Kind names a kind of files, and so the reader of them. Readers declare their kinds.
type Kind string

// Unknown is the kind of files without a reader.
const Unknown Kind = ""

// Confidence is how sure Detect is.
type Confidence int

// The degrees.
const (
	None    Confidence = iota
	Guess              // the shape fits
	Likely             // the shape fits this tool only
	Certain            // it has the tool's own words
)

var confidenceNames = [...]string{"none", "guess", "likely", "certain"}

func (c Confidence) String() string { return confidenceNames[min(max(c, 0), Certain)] }

// Found is the result of Detect.
type Found struct {
	Kind Kind
	// Tool wrote the file; nil: unknown. Kind is empty for a tool without a reader.
	Tool *Tool
	// Era is the version or span of versions that the text shows: "1.0.20", "0.5", "2.x",
	// "20 to 23.7"; empty: none.
	Era        string
	Confidence Confidence
	Why        string // the line, keys or shape that decided, or the reason why nothing was found
}

// Detect recognises what wrote a file, from the beginning of its text (see Open). The name of the file
// only raises the confidence of a shape.
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
		t := l.ofLine(line)
		if t == nil {
			if t = l.ofLine(bytes.TrimLeft(line, ">|+ \t")); t == nil || t.Kind != Unknown { // a quotation
				continue
			}
		}
		if t.Kind == Unknown { // it counts only if the file has nothing of a tool with a reader
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

// Unread finds a tool without a reader by the lines of a text or the keys of its JSON; nil: none.
func (l Tools) Unread(head []byte) *Tool {
	for line := range bytes.Lines(head) {
		if t := l.ofLine(bytes.TrimLeft(line, ">|+ \t")); t != nil && t.Kind == Unknown {
			return t
		}
	}
	if t := l.ofJSON(head); t != nil && t.Kind == Unknown {
		return t
	}
	return nil
}

func clip(line []byte) string {
	s := string(bytes.TrimSpace(line))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}
