package experiment

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// largest is the maximum size of an experiment file, in bytes.
const largest = 1 << 20

// document returns the root of the only document in src.
func document(src []byte, s *sink) *yaml.Node {
	start := &yaml.Node{Line: 1, Column: 1}
	if len(src) > largest {
		s.addProblem(start, "larger than %d bytes: not an experiment", largest)
		return start
	}
	if i, what := notText(src); i >= 0 {
		s.addProblem(position(src, i), "%s: not an experiment", what)
		return start
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		s.addProblem(start, "the experiment is empty")
		return start
	}
	if err == nil {
		err = dec.Decode(&next)
		if err == nil {
			s.addProblem(&next, "a second document; want one experiment per file")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		n, text := syntax(src, err)
		s.addProblem(n, "not YAML: %s", text)
		return start
	}
	return doc.Content[0]
}

// notText finds the first byte that is not UTF-8, or a control character; -1: there is none.
func notText(src []byte) (at int, what string) {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i, "not UTF-8"
		}
		if unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) {
			return i, "a control character (" + strconv.QuoteRune(r) + ")"
		}
		i += size
	}
	return -1, ""
}

// position makes a node with the line and column of byte i of src.
func position(src []byte, i int) *yaml.Node {
	before := src[:i]
	return &yaml.Node{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
	}
}

var (
	yamlError     = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax finds the place of an error of the YAML library. The library says at most the line:
// its parser counts lines from 0, its scanner from 1.
func syntax(src []byte, err error) (*yaml.Node, string) {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return position(src, 0), err.Error()
	}
	text := m[2]
	if a := unknownAnchor.FindStringSubmatch(text); a != nil {
		return position(src, max(0, bytes.Index(src, []byte("*"+a[1])))), text
	}
	line, _ := strconv.Atoi(m[1])
	if line == 0 || strings.HasPrefix(text, "did not find expected") {
		line++
	}
	if strings.Contains(text, "cannot start any token") {
		text += " (indent with spaces, put special characters in quotes)"
	}
	return &yaml.Node{Line: line, Column: 1}, text
}
