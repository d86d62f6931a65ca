package format

import (
	"bytes"
	"errors"
	"io"
	"regexp"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Scan is the base of a reader of text: lines, warnings about them, and a look-out for other tools.
type Scan struct {
	*Lines
	Warnings
	others others
	text   *Text // nil: the input is no Text
}

// NewScan starts the reader of the tool own on r. If r is a Text, its known tools are recognised too. A
// reader of tables has no tool (own is nil); its lines have no prefixes.
func NewScan(r io.Reader, own *Tool) Scan {
	s := Scan{Lines: newLines(r), others: others{own: own}}
	if s.asIs = own == nil; own != nil {
		s.others.known = Tools{own}
	}
	if t, ok := r.(*Text); ok {
		if s.text = t; own != nil {
			s.others.known = t.Known
		}
	}
	s.known = s.others.known
	return s
}

// Ours reports that only the reader's own tool writes such a line.
func (s *Scan) Ours(line []byte) bool {
	t := s.known.ofLine(line)
	return t != nil && t == s.others.own
}

// Theirs reports that only another tool writes such a line.
func (s *Scan) Theirs(line []byte) bool {
	t := s.known.ofLine(line)
	return t != nil && t != s.others.own
}

// Each calls f with every line, until f returns an error.
func (s *Scan) Each(f func(line []byte) error) error {
	for s.Next() {
		if err := f(s.Bytes()); err != nil {
			return err
		}
	}
	return s.Err()
}

// Doubt adds a warning about the current line, unless there is one with the same text.
func (s *Scan) Doubt(text, remedy record.Said) { s.Once(s.Number(), text, remedy) }

// NoEnd warns about a last line that was left out.
func (s *Scan) NoEnd() { s.Doubt(noEnd, record.Said{}) }

// Comma warns about decimal commas.
func (s *Scan) Comma() {
	s.Doubt(commasRead, checkCommas)
}

// JSON decodes the document that begins on the current line into v, and returns its first line. If the
// document has a mistake, JSON adds a warning and returns line 0.
func (s *Scan) JSON(v any) (line int, err error) {
	d, err := s.Document()
	if err != nil {
		return 0, err
	}
	undefined, err := d.Decode(v)
	var wrong *Error
	if errors.As(err, &wrong) {
		s.Add(wrong.Line, record.InProse(wrong.Text), record.InProse(wrong.Remedy))
		return 0, nil
	}
	if undefined {
		s.Once(d.Line, undefinedInJSON(s.others.own.Name), record.Said{})
	}
	return d.Line, err
}

// noFigure matches nan or inf in place of a figure.
var noFigure = regexp.MustCompile(`(?i)(?:^|[\s=:(])[-+]?(?:nan|inf|infinity)(?:$|[\s,;)%])`)

// Undefined warns if a line of the reader's tool has nan or inf in place of a figure.
func (s *Scan) Undefined(line []byte) {
	if noFigure.Match(line) {
		s.Doubt(undefinedFigure(s.others.own.Name), lookAtLog)
	}
}

// NotOurs warns about a JSON document that the tool did not write.
func (s *Scan) NotOurs(line int) {
	if line > 0 {
		s.Once(line, otherJSON(s.others.own.Name), record.Said{})
	}
}

// Aside notes a line beside the output of the tool.
func (s *Scan) Aside(number int, text string) { s.text.aside(number, []byte(text)) }

// Strange handles a line that the reader does not know: it notes the line as an aside, and warns if it is
// another tool's or has another prefix.
func (s *Scan) Strange(line []byte) {
	if s.text != nil && len(s.text.Asides) < mostAsides && (s.others.own.Noise == nil || !s.others.own.Noise.Match(bytes.TrimSpace(line))) {
		s.text.aside(s.Number(), line)
	}
	if len(s.prefixes) == 0 {
	} else if at, _ := s.known.wordsAt(bytes.TrimLeft(line, " \t")); at > 0 {
		s.Doubt(otherMark, fileEachSide)
	}
	s.others.look(line, s.Number(), &s.Warnings)
}

// Doubts returns all warnings, at the end of the input.
func (s *Scan) Doubts() []Warning {
	for _, n := range s.tooLong {
		s.Add(n, longLine, checkLongLine)
	}
	return s.List()
}

// Alone reports that no line of another tool was found.
func (s *Scan) Alone() bool { return s.others.first == nil }

// Nothing is the error of a reader that found no output of its tool; what names the output.
func (s *Scan) Nothing(what string) error {
	return nothing(what, s.Number(), s.others.first, s.others.line)
}

// Why is the error of a reader that found no figures in the output of its own tool: the first
// warning about a line, or Nothing.
func (s *Scan) Why() error {
	for _, w := range s.List() {
		if w.Line > 0 && s.Alone() {
			return &Error{Line: w.Line, Text: said.English(w.Text), Remedy: said.English(w.Remedy)}
		}
	}
	return s.Nothing(s.others.own.Name)
}

// Failures counts the error lines of a tool and keeps the first.
type Failures struct {
	Count int     `json:"count,omitempty"`
	First Failure `json:"first,omitzero"`
}

// Failure is an error line of a tool. Line counts from 1.
type Failure struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// Fail adds an error line.
func (f *Failures) Fail(line int, text []byte) {
	if f.Count++; f.Count == 1 {
		f.First = Failure{Line: line, Text: string(bytes.ToValidUTF8(text[:min(len(text), 300)], []byte("?")))}
	}
}
