package format

import (
	"bytes"
	"regexp"
	"slices"
)

// Tool describes how to recognise the output of a benchmark tool. The folder of its reader declares it.
// A tool without a reader is only named in errors.
type Tool struct {
	Name string
	// Programs are the programs of its command lines, which people quote above a report.
	Programs []string
	// Kind is the kind of files that have the tool's own words; Unknown for a tool without a reader.
	Kind Kind
	// Begins are beginnings of lines that only this tool writes, without leading blanks.
	Begins []string
	// IsLine reports other lines that only this tool writes; nil: none. It gets lines of at least
	// 8 bytes without leading blanks.
	IsLine func(line []byte) bool
	// ReportAt returns where on a line a report begins that may be the only one in its file: people
	// and programs put prefixes before it. -1: nowhere. nil: never.
	ReportAt func(line []byte) int
	// Noise matches other lines of the tool or its preparation, which do not describe a run.
	// nil: none.
	Noise *regexp.Regexp
	// Keys are sets of JSON keys. A document with all keys of one set is the tool's.
	Keys [][]string
	// Era returns the version that a line or a JSON document shows; empty: none. nil: never.
	Era func(text []byte) string
	// Shapes are outputs without any word of the tool.
	Shapes []Shape
}

// Shape describes an output by the shape of its lines.
type Shape struct {
	Kind      Kind
	Era       string
	Line      func(line []byte) bool // gets lines without blanks around them
	FirstLine bool                   // only the first line counts
	AllLines  bool                   // every line must have the shape
	// Confidence of this shape. A name that fits NameFits makes a Guess Likely.
	Confidence Confidence
	NameFits   func(name string) bool
}

// Tools are known tools, in the order in which lines are compared with them.
type Tools []*Tool

// Begins reports whether b begins with s.
func Begins(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// Has reports whether b contains s.
func Has(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }

// ofLine returns the tool that alone writes such a line; nil: none.
func (l Tools) ofLine(line []byte) *Tool {
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
		if t.IsLine != nil && t.IsLine(b) {
			return t
		}
	}
	return nil
}

// ofJSON returns the tool whose keys a document has; nil: none.
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

// era returns the version that a line or a document shows.
func (t *Tool) era(text []byte) string {
	if t.Era == nil {
		return ""
	}
	return t.Era(text)
}

// Names lists the tools with readers, for a sentence: "a, b and c".
func (l Tools) Names() string {
	var names []string
	for _, t := range l {
		if t.Kind != Unknown {
			names = append(names, t.Name)
		}
	}
	return listed(names)
}

// others looks for lines of other tools in a file, and warns once about each.
type others struct {
	own   *Tool
	known Tools
	first *Tool // the first other tool
	line  int   // the number of its first line
}

// look checks a line that the reader does not know.
func (f *others) look(line []byte, number int, w *Warnings) {
	t := f.known.ofLine(line)
	if t == nil || t == f.own {
		return
	}
	if f.first == nil {
		f.first, f.line = t, number
	}
	w.Once(number, otherOutput(t.Name), fileEachOutput)
}
