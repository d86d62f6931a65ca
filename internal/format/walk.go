package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// JSON reads a document in one pass from front to back, without a tree. What a
// member or element function leaves alone is passed over with its brackets
// counted; everything else has to be JSON.
type JSON struct {
	b []byte
	i int
	// Undefined says that a nan or inf was read as a missing number.
	Undefined bool
}

// offsetError is a mistake at a place of the document.
type offsetError struct {
	at   int
	text string
}

func (e *offsetError) Error() string { return e.text }

// Walk reads the document's members. A mistake in the JSON becomes an Error
// with line and column; other errors of member are returned as they are.
func (d Document) Walk(member func(j *JSON, key []byte) error) error {
	if d.Cut {
		return d.cutError()
	}
	j := &JSON{b: d.Bytes}
	j.spaces()
	err := j.Object(func(key []byte) error { return member(j, key) })
	var e *offsetError
	if errors.As(err, &e) {
		line, column := d.place(int64(e.at) + 1)
		return &Error{Line: line, Column: column, Text: e.text, Remedy: commaRemedy(d.Bytes, int64(e.at)+1)}
	}
	return err
}

// Object calls member for every member of the object that comes next, with the
// name as it stands in the text; null has none.
func (j *JSON) Object(member func(key []byte) error) error {
	return j.elements('{', '}', func() error {
		key := j.quoted()
		if key == nil {
			return j.expected("a name in quotation marks")
		}
		j.spaces()
		if j.peek() != ':' {
			return j.expected("a colon")
		}
		j.i++
		j.spaces()
		start := j.i
		if err := member(key[1 : len(key)-1]); err != nil {
			return err
		}
		return j.pass(start)
	})
}

// Array calls element for every element of the array that comes next; null has
// none.
func (j *JSON) Array(element func() error) error {
	return j.elements('[', ']', func() error {
		start := j.i
		if err := element(); err != nil {
			return err
		}
		return j.pass(start)
	})
}

// elements goes from comma to comma between two brackets.
func (j *JSON) elements(opening, closing byte, one func() error) error {
	if j.word("null") {
		return nil
	}
	if j.peek() != opening {
		return j.expected(string(opening))
	}
	j.i++
	j.spaces()
	if j.peek() == closing {
		j.i++
		return nil
	}
	for {
		if err := one(); err != nil {
			return err
		}
		j.spaces()
		switch j.peek() {
		case closing:
			j.i++
			return nil
		case ',':
			j.i++
			j.spaces()
		default:
			return j.expected("a comma or " + string(closing))
		}
	}
}

// pass passes over a value that was left alone.
func (j *JSON) pass(start int) error {
	if j.i > start {
		return nil
	}
	j.i += valueEnd(j.b[j.i:])
	if j.i == start {
		return j.expected("a value")
	}
	return nil
}

// Num reads a number. null, and the nan and inf that C programs print, are
// missing; anything else is an error.
func (j *JSON) Num() (Num, error) {
	x, n := Number(j.b[j.i:])
	if n > 0 && j.b[j.i] != '+' {
		j.i += n
		return Some(x), nil
	}
	for _, w := range []string{"null", "nan", "-nan", "inf", "-inf", "NaN", "Infinity", "-Infinity"} {
		if j.word(w) {
			j.Undefined = j.Undefined || w != "null"
			return Num{}, nil
		}
	}
	return Num{}, j.expected("a number")
}

// Int reads a whole number that fits an int32; null is 0.
func (j *JSON) Int() (int, error) {
	if j.word("null") {
		return 0, nil
	}
	n := valueEnd(j.b[j.i:])
	x, err := strconv.ParseInt(string(j.b[j.i:j.i+n]), 10, 32)
	if err != nil {
		return 0, j.expected("a whole number")
	}
	j.i += n
	return int(x), nil
}

// Text reads a string; any other value gives its text as it stands.
func (j *JSON) Text() string {
	v := j.b[j.i : j.i+valueEnd(j.b[j.i:])]
	j.i += len(v)
	if len(v) < 2 || v[0] != '"' {
		return string(bytes.ToValidUTF8(v, []byte("?")))
	}
	var s string
	if bytes.IndexByte(v, '\\') >= 0 && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(bytes.ToValidUTF8(v[1:len(v)-1], []byte("?")))
}

func (j *JSON) peek() byte {
	if j.i < len(j.b) {
		return j.b[j.i]
	}
	return 0
}

func (j *JSON) spaces() {
	for j.i < len(j.b) && (j.b[j.i] == ' ' || j.b[j.i] == '\n' || j.b[j.i] == '\t' || j.b[j.i] == '\r') {
		j.i++
	}
}

// word passes over a literal.
func (j *JSON) word(w string) bool {
	if n := j.i + len(w); n <= len(j.b) && string(j.b[j.i:n]) == w {
		j.i = n
		return true
	}
	return false
}

// quoted passes over a string with its quotation marks; nil if there is none.
func (j *JSON) quoted() []byte {
	n := stringEnd(j.b[j.i:])
	if n == 0 {
		return nil
	}
	s := j.b[j.i : j.i+n]
	j.i += n
	return s
}

func (j *JSON) expected(what string) error {
	end := min(len(j.b), j.i+20)
	return &offsetError{j.i, fmt.Sprintf("%s is expected, this is %q", what, bytes.TrimSpace(j.b[j.i:end]))}
}

// stringEnd returns the length of a string with both quotation marks, or 0.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// valueEnd returns the length of the value at the beginning of b, 0 for none.
func valueEnd(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '{', '[':
		return bracketEnd(b)
	}
	i := 0
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != '"' && b[i] != ':' {
		i++
	}
	return i
}

// bracketEnd returns the length up to the bracket that closes the first one.
func bracketEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// IsObject says whether an object comes next.
func (j *JSON) IsObject() bool { return j.peek() == '{' }
