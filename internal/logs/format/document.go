package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// maxDocument bounds a JSON document in memory, in bytes. fio's with all latency bins of 1000 jobs are
// smaller.
const maxDocument = 256 << 20

// Document is a JSON document that was found in other text.
type Document struct {
	Line  int // its first line
	Bytes []byte
	// Cut says that the input ended, or another document began, before the closing bracket.
	Cut bool
	// Long says that one of its lines is longer than 1 MiB, of which only the first MiB was read.
	Long bool
}

// BeginsJSON reports whether a JSON object can begin on the line: an opening bracket, and behind it
// nothing, a name or the closing bracket.
func BeginsJSON(line []byte) bool {
	b := unindented(line)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	b = unindented(b[1:])
	return len(b) == 0 || b[0] == '"' || b[0] == '}'
}

// unindented removes leading blanks.
func unindented(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// Document collects the JSON object or array that begins on the current line. Text behind its closing
// bracket becomes the next line. The bytes are valid until the next call.
func (l *Lines) Document() (Document, error) {
	d := Document{Line: l.number, Bytes: l.doc[:0]}
	defer func() { l.doc = d.Bytes }()
	var s nesting
	for {
		if end := s.end(l.line); end > 0 {
			d.Bytes = append(d.Bytes, l.line[:end]...)
			l.rest(end)
			return d, nil
		}
		d.Bytes = append(append(d.Bytes, l.line...), '\n')
		if len(d.Bytes) > maxDocument {
			return d, &Error{Line: d.Line, Text: largeJSON(maxDocument >> 20), Remedy: splitFile}
		}
		if l.long || !l.Next() {
			d.Cut, d.Long = true, l.long
			return d, nil
		}
		if string(l.line) == "{" && d.Bytes[0] == '{' && !s.quoted && bytes.Contains(d.Bytes, []byte("\n ")) {
			d.Cut = true // a lone bracket in the first column begins the next document, unless indentation is lost
			l.Back()
			return d, nil
		}
	}
}

// nesting is the state of a document at the end of a line.
type nesting struct {
	depth  int
	quoted bool
}

// special are the bytes that change the nesting.
var special = [256]bool{'"': true, '\\': true, '{': true, '[': true, '}': true, ']': true}

// end returns how many bytes of the line belong to the document if it ends there; 0: it goes on.
func (s *nesting) end(line []byte) int {
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !special[c] {
			continue
		}
		switch {
		case c == '\\' && s.quoted:
			i++
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth <= 0 {
				return i + 1
			}
		}
	}
	return 0
}

// rest makes the text behind the first n bytes of the line the next line.
func (l *Lines) rest(n int) {
	if len(bytes.TrimLeft(l.line[n:], " \t,")) > 0 {
		l.line = l.line[n:]
		l.Back()
	}
}

// undefined matches the nan and inf that C programs print for missing measurements, and also strings,
// so that one pass over a document can skip them.
var undefined = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|-?\b(?:nan|NaN|inf|Infinity)\b`)

// nulls replaces nan and inf outside of strings by null, and reports whether there was one.
func nulls(b []byte) (out []byte, found bool) {
	out = undefined.ReplaceAllFunc(b, func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		found = true
		return []byte("null")
	})
	return out, found
}

// dots matches lines of dots, with which people shorten a document. comma matches the comma that is
// then left before a closing bracket.
var (
	dots  = regexp.MustCompile(`(?m)^[ \t]*(?:\.{3,}|…+)[ \t]*,?[ \t]*$`)
	comma = regexp.MustCompile(`,\s*[}\]]`)
)

// withoutDots replaces such lines and commas by blanks, so that lines and columns in errors stay right.
func withoutDots(b []byte) (out []byte, found bool) {
	blank := func(m []byte) []byte { found = true; return bytes.Repeat([]byte(" "), len(m)) }
	if out = dots.ReplaceAllFunc(b, blank); !found {
		return b, false
	}
	return comma.ReplaceAllFunc(out, func(m []byte) []byte { m = bytes.Clone(m); m[0] = ' '; return m }), true
}

// Decode decodes the document into v. nan and inf are read as null; undefined reports whether there were
// any. A mistake in the document is an Error with line and column.
func (d Document) Decode(v any) (undefined bool, err error) {
	if d.Cut {
		return false, d.cutError()
	}
	var syntax *json.SyntaxError
	if err = json.Unmarshal(d.Bytes, v); errors.As(err, &syntax) {
		if b, found := withoutDots(d.Bytes); found {
			d.Bytes = b
			err = json.Unmarshal(d.Bytes, v)
		}
	}
	if errors.As(err, &syntax) {
		if d.Bytes, undefined = nulls(d.Bytes); undefined {
			err = json.Unmarshal(d.Bytes, v)
		}
	}
	if err == nil {
		return undefined, nil
	}
	e := &Error{Line: d.Line, Text: err.Error()}
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		e.Line, e.Column = d.place(syntax.Offset)
		e.Remedy = commaRemedy(d.Bytes, syntax.Offset)
	case errors.As(err, &kind):
		e.Line, e.Column = d.place(kind.Offset)
		e.Text = otherType(kind.Field, kind.Value, strings.Replace(kind.Type.String(), "float64", "number", 1))
	}
	return undefined, e
}

func (d Document) cutError() error {
	if d.Long {
		return &Error{Line: d.Line, Text: longInJSON, Remedy: manyLines}
	}
	return &Error{Line: d.Line, Text: openJSON, Remedy: nothingOfJSON}
}

// place converts an offset behind a byte of the document to line and column.
func (d Document) place(offset int64) (line, column int) {
	before := d.Bytes[:min(max(offset-1, 0), int64(len(d.Bytes)))]
	return d.Line + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// commaRemedy returns the remedy for a number with a decimal comma; empty if there is none at the offset.
func commaRemedy(b []byte, offset int64) string {
	i := int(offset) - 1
	if i >= 1 && i < len(b) && b[i-1] == ',' && b[i]-'0' <= 9 || i >= 2 && i < len(b) && b[i-2]-'0' <= 9 && b[i-1] == ',' {
		return pointForComma
	}
	return ""
}
