package format

import (
	"bytes"
	"errors"
	"io"
	"regexp"
)

// Scan is what every reader of text begins with: the lines of an input, what is
// doubtful in them, and the other tools that were seen. Methods of Lines and
// Warnings are those of the line of now.
type Scan struct {
	*Lines
	Warnings
	foreign Foreign
	text    *Text // nil for a reader of bytes
}

// NewScan starts at the beginning of r, for the reader of a tool. In a table, which is
// no tool's (own is nil), everything on a line belongs to a column.
// Of a Text, other tools are known too.
func NewScan(r io.Reader, own *Tool) Scan {
	s := Scan{Lines: NewLines(r), foreign: Foreign{Own: own}}
	if s.asIs = own == nil; own != nil {
		s.foreign.Known = Tools{own}
	}
	if t, ok := r.(*Text); ok {
		if s.text = t; own != nil {
			s.foreign.Known = t.Known
		}
	}
	s.known = s.foreign.Known
	return s
}

// Ours says that the line is one that only the reader's own tool writes, Theirs that it is
// one of another.
func (s *Scan) Ours(line []byte) bool {
	t := s.known.of(line)
	return t != nil && t == s.foreign.Own
}

// Theirs: see Ours.
func (s *Scan) Theirs(line []byte) bool {
	t := s.known.of(line)
	return t != nil && t != s.foreign.Own
}

// Each hands every line to take, whose error ends the reading.
func (s *Scan) Each(take func(line []byte) error) error {
	for s.Next() {
		if err := take(s.Bytes()); err != nil {
			return err
		}
	}
	return s.Err()
}

// Doubt is a warning about the line of now, once for each text.
func (s *Scan) Doubt(text, remedy string) { s.Once(s.Number(), text, remedy) }

// NoEnd is the warning about a last line that was left out.
func (s *Scan) NoEnd() { s.Doubt("the last line has no end and was left out", "") }

// Comma is the warning about decimal commas.
func (s *Scan) Comma() {
	s.Doubt("numbers with a decimal comma were read as if it were a point", "check that they are not thousands separators")
}

// JSON reads the document that begins on the line of now into v, and says where
// it began: 0 when there is a mistake in it, which becomes a warning.
func (s *Scan) JSON(v any) (line int, err error) {
	d, err := s.Document()
	if err != nil {
		return 0, err
	}
	undefined, err := d.Decode(v)
	var wrong *Error
	if errors.As(err, &wrong) {
		s.Add(wrong.Line, wrong.Text, wrong.Remedy)
		return 0, nil
	}
	if undefined {
		s.Once(d.Line, s.foreign.Own.Name+" wrote nan or inf where nothing was measured; these figures are missing", "")
	}
	return d.Line, err
}

// noFigure is a word in the place of a figure.
var noFigure = regexp.MustCompile(`(?i)(?:^|[\s=:(])[-+]?(?:nan|inf|infinity)(?:$|[\s,;)%])`)

// Undefined looks whether the tool wrote nan or inf for a figure, in a line of its own
// that is read.
func (s *Scan) Undefined(line []byte) {
	if noFigure.Match(line) {
		s.Doubt(s.foreign.Own.Name+" wrote nan or inf for a figure, which is missing", "nothing was measured, or the tool or its clock was wrong: look at the log")
	}
}

// NotOurs is the warning about a JSON document that the tool did not write.
func (s *Scan) NotOurs(line int) {
	if line > 0 {
		s.Once(line, "JSON that is not "+s.foreign.Own.Name+"'s was left out", "")
	}
}

// Aside notes a line that is not of the tool.
func (s *Scan) Aside(number int, text string) { s.text.aside(number, []byte(text)) }

// Strange takes a line that the reader does not know.
func (s *Scan) Strange(line []byte) {
	if s.text != nil && len(s.text.Asides) < mostAsides && (s.foreign.Own.Also == nil || !s.foreign.Own.Also.Match(bytes.TrimSpace(line))) {
		s.text.aside(s.Number(), line)
	}
	if len(s.marks) == 0 {
	} else if at, _ := s.known.words(bytes.TrimLeft(line, " \t")); at > 0 {
		s.Doubt("lines behind another mark than the first ones have were left out", "give each side of a diff, or each source, a file of its own")
	}
	s.foreign.Look(line, s.Number(), &s.Warnings)
}

// Doubts are all warnings, for a reader that is at the end.
func (s *Scan) Doubts() []Warning {
	for _, n := range s.tooLong {
		s.Add(n, "the line is longer than 1 MiB; only its beginning was looked at", "no tool that is known writes such a line: check what it is")
	}
	return s.List()
}

// Alone says that no other tool was seen.
func (s *Scan) Alone() bool { return s.foreign.First == nil }

// Nothing is the error of a reader that found nothing of what it reads.
func (s *Scan) Nothing(what string) error {
	return nothing(what, s.Number(), s.foreign.First, s.foreign.Line)
}

// Why is the error of a reader that found no figures in the output of its own tool: the first
// warning about a line, or Nothing.
func (s *Scan) Why() error {
	for _, w := range s.List() {
		if w.Line > 0 && s.Alone() {
			return &Error{Line: w.Line, Text: w.Text, Remedy: w.Remedy}
		}
	}
	return s.Nothing(s.foreign.Own.Name)
}

// Failures are lines with which a tool says that something failed.
type Failures struct {
	Count int     `json:"count,omitempty"`
	First Warning `json:"first,omitzero"`
}

// Fail takes such a line.
func (f *Failures) Fail(line int, text []byte) {
	if f.Count++; f.Count == 1 {
		f.First = Warning{Line: line, Text: string(bytes.ToValidUTF8(text[:min(len(text), 300)], []byte("?")))}
	}
}
