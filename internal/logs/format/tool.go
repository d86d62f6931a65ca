package format

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Tool is what is declared once of a benchmark tool: how its output is told from all
// other text. Its folder declares it beside its readers; of a tool that is not read, the
// name in an error is all that becomes of it.
type Tool struct {
	Name string
	// Programs are what its command lines begin with, as people quote them above a report.
	Programs []string
	// Kind is what a file is in which the tool's own words stand; Unknown for a tool that
	// is not read.
	Kind Kind
	// Begins are what only this tool writes at the beginning of a line, blanks left out.
	Begins []string
	// Is knows other lines that only it writes, blanks before them left out, at least 8 bytes
	// long; nil for none.
	Is func(line []byte) bool
	// Report is where on a line a report begins that may be the only one of its file, behind
	// whatever was put before it; -1 for none, nil for never.
	Report func(line []byte) int
	// Also are lines that it, or its preparation, prints too and that no reader needs: they say
	// nothing of what a run is. nil for none.
	Also *regexp.Regexp
	// Keys are of its JSON: all keys of one of these sets are there.
	Keys [][]string
	// Era is the version that a line or the JSON tells; empty when it does not.
	Era func(text []byte) string
	// Shapes are outputs in which no word of the tool stands.
	Shapes []Shape
}

// Shape is an output that is told by the shape of its lines.
type Shape struct {
	Kind  Kind
	Era   string
	Line  func(line []byte) bool // blanks around it left out
	First bool                   // only the first line is asked
	Every bool                   // all lines must be such
	// Sure is how sure one is that such lines are the tool's; NameSays makes a Guess Likely.
	Sure     Confidence
	NameSays func(name string) bool
}

// Tools are all that are known, in the order in which they are asked: it matters where one
// line begins like another.
type Tools []*Tool

// Begins says that b begins with s.
func Begins(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// Has says that s stands in b.
func Has(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }

// of is the tool that alone writes such a line; nil for none.
func (l Tools) of(line []byte) *Tool {
	b := bytes.TrimLeft(line, " \t")
	if len(b) < 8 {
		return nil
	}
	for _, t := range l {
		if slices.ContainsFunc(t.Begins, func(s string) bool { return Begins(b, s) }) {
			return t
		}
	}
	for _, t := range l {
		if t.Is != nil && t.Is(b) {
			return t
		}
	}
	return nil
}

// ofJSON is the tool whose keys a document has; nil for none.
func (l Tools) ofJSON(text []byte) *Tool {
	for _, t := range l {
		for _, keys := range t.Keys {
			if !slices.ContainsFunc(keys, func(k string) bool { return !Has(text, `"`+k+`"`) }) {
				return t
			}
		}
	}
	return nil
}

// era is the version that a line or a document tells.
func (t *Tool) era(text []byte) string {
	if t.Era == nil {
		return ""
	}
	return t.Era(text)
}

// Names are those of the tools that are read, as a sentence has them.
func (l Tools) Names() string {
	var names []string
	for _, t := range l {
		if t.Kind != Unknown {
			names = append(names, t.Name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Foreign watches for lines of other tools in a file: ready with its own tool and all that
// are known. It warns once about each other tool.
type Foreign struct {
	Own   *Tool
	Known Tools
	// First is the first other tool and where it begins.
	First *Tool
	Line  int
}

// Look is called with every line that the reader does not know.
func (f *Foreign) Look(line []byte, number int, w *Warnings) {
	t := f.Known.of(line)
	if t == nil || t == f.Own {
		return
	}
	if f.First == nil {
		f.First, f.Line = t, number
	}
	w.Once(number, "output of "+t.Name+" begins here; it was not read", "give each tool's output a file of its own")
}
