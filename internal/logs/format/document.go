package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxDocument bounds a JSON document in memory; fio's with every latency bin
// of 1000 jobs stay below it.
const maxDocument = 256 << 20

// Document is a JSON document cut out of other text.
type Document struct {
	Line  int // where it begins
	Bytes []byte
	// Cut says that the input ended, or something else began, before the
	// document's last bracket.
	Cut bool
	// Long says that it is on a line of which only the first MiB was read.
	Long bool
}

// BeginsJSON says whether a JSON object can begin on the line: a bracket, and then
// the end of the line, a name or the closing bracket.
func BeginsJSON(line []byte) bool {
	b := unindented(line)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	b = unindented(b[1:])
	return len(b) == 0 || b[0] == '"' || b[0] == '}'
}

// unindented is a line without the blanks that it begins with. Most have none.
func unindented(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// Document collects the JSON object or array that begins on the line of now,
// up to its closing bracket. What follows on the line of that bracket is
// handed out as the next line. The bytes are valid until the next call.
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
			return d, &Error{Line: d.Line, Text: fmt.Sprintf("the JSON document is larger than %d MiB", maxDocument>>20), Remedy: "split the file"}
		}
		if l.long || !l.Next() {
			d.Cut, d.Long = true, l.long
			return d, nil
		}
		if string(l.line) == "{" && d.Bytes[0] == '{' && !s.quoted {
			d.Cut = true // a lone bracket in the first column begins the next document
			l.Back()
			return d, nil
		}
	}
}

// nesting is where in a document the end of a line is.
type nesting struct {
	depth  int
	quoted bool
}

// special are the bytes that change the nesting.
var special = [256]bool{'"': true, '\\': true, '{': true, '[': true, '}': true, ']': true}

// end returns the length of the part of the line that ends the document, 0 if
// it goes on.
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

// rest makes what follows the first n bytes of the line the next line.
func (l *Lines) rest(n int) {
	if len(bytes.TrimLeft(l.line[n:], " \t,")) > 0 {
		l.line = l.line[n:]
		l.Back()
	}
}

// undefined finds the nan and inf that C programs print for what they did not
// measure, and passes over strings. It reads a complete document in one pass.
var undefined = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|-?\b(?:nan|NaN|inf|Infinity)\b`)

// nulls makes null of every bare nan and inf, and says whether there was one.
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

// Dots for what somebody left out, and the comma before the end that is left then.
var (
	dots  = regexp.MustCompile(`(?m)^[ \t]*(?:\.{3,}|…+)[ \t]*,?[ \t]*$`)
	comma = regexp.MustCompile(`,\s*[}\]]`)
)

// withoutDots is a document without such lines; its other lines keep their places.
func withoutDots(b []byte) (out []byte, found bool) {
	blank := func(m []byte) []byte { found = true; return bytes.Repeat([]byte(" "), len(m)) }
	if out = dots.ReplaceAllFunc(b, blank); !found {
		return b, false
	}
	return comma.ReplaceAllFunc(out, func(m []byte) []byte { m = bytes.Clone(m); m[0] = ' '; return m }), true
}

// Decode reads the document into v, and says whether there was a nan or inf in
// it, which becomes null. A mistake in it becomes an Error with line and column.
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
		e.Text = fmt.Sprintf("%s is a %s where a %s is expected", kind.Field, kind.Value, strings.Replace(kind.Type.String(), "float64", "number", 1))
	}
	return undefined, e
}

func (d Document) cutError() error {
	if d.Long {
		return &Error{Line: d.Line, Text: "the JSON document that begins here has a line longer than 1 MiB",
			Remedy: "print it on many lines: jq . FILE"}
	}
	return &Error{Line: d.Line, Text: "the JSON document that begins here has no end",
		Remedy: "the benchmark was stopped or the file is cut off; nothing of the document is used"}
}

// place turns an offset after a byte of the document into line and column.
func (d Document) place(offset int64) (line, column int) {
	before := d.Bytes[:min(max(offset-1, 0), int64(len(d.Bytes)))]
	return d.Line + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

func commaRemedy(b []byte, offset int64) string {
	i := int(offset) - 1
	if i >= 1 && i < len(b) && b[i-1] == ',' && b[i]-'0' <= 9 || i >= 2 && i < len(b) && b[i-2]-'0' <= 9 && b[i-1] == ',' {
		return "a number with a decimal comma: write it with a point"
	}
	return ""
}
