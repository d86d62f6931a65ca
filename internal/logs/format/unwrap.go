package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
)

// This file removes what programs put around the whole text of a log: colours, Docker's json-file, Ansible's
// stdout_lines, the line numbers of cat -n; and it breaks JSON in one long line.

// unwrap returns the text without its wrapping, which the beginning of the text shows.
func unwrap(br *bufio.Reader) *bufio.Reader {
	for range 3 { // colours within Docker's log within line numbers
		head, _ := br.Peek(headSize)
		var f *filter
		switch first := bytes.TrimLeft(head, " \t\r\n"); {
		case dockerLine.Match(first):
			f = &filter{change: dockerLog}
		case numbered(head):
			f = &filter{change: func(line []byte) []byte { return lineNumber.ReplaceAll(line, nil) }}
		case stdoutLines.Match(head):
			f = &filter{change: (&ansible{}).line}
		case bytes.IndexByte(head, escape) >= 0:
			f = &filter{change: func(line []byte) []byte { return escapes.ReplaceAll(line, nil) }}
		case len(first) > 0 && (first[0] == '{' || first[0] == '[') && bytes.Count(head, []byte("\n")) < len(head)>>12:
			f = &filter{change: (&longJSON{}).line}
		default:
			return br
		}
		f.r = br
		br = bufio.NewReaderSize(f, headSize)
	}
	return br
}

const escape = 0x1b

var (
	// escapes matches the sequences of ECMA-48 that terminals obey: colours, erasing, titles.
	escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\^_=>])`)
	// dockerLine matches a line of Docker's json-file log.
	dockerLine  = regexp.MustCompile(`^\{"log":"(?:[^"\\]|\\.)*","(?:stream|time|attrs)":`)
	lineNumber  = regexp.MustCompile(`^ *\d+\t`)
	stdoutLines = regexp.MustCompile(`(?m)^\s*"(?:[\w.]+\.)?stdout_lines": \[\s*$`)
	quotedLine  = regexp.MustCompile(`^\s*"(?:[^"\\]|\\.)*"(,?)\s*$`)
)

// dockerLog returns the text of a line of Docker's log, which has its own line end unless Docker broke a long line.
func dockerLog(line []byte) []byte {
	var entry struct{ Log string }
	if json.Unmarshal(line, &entry) != nil {
		return line
	}
	return []byte(entry.Log)
}

// numbered reports whether the lines of a text begin with their numbers, as cat -n and nl write them.
func numbered(head []byte) bool {
	next := uint64(1)
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m := lineNumber.Find(line)
		if n, _ := Uint(bytes.TrimSpace(m)); m == nil || n != next {
			return next > 5 && !bytes.HasSuffix(line, []byte("\n")) // the end of head
		}
		next++
	}
	return next > 3
}

// ansible keeps the text of stdout_lines. The same text stands in "stdout" too.
type ansible struct{ inside bool }

func (a *ansible) line(line []byte) []byte {
	switch {
	case stdoutLines.Match(line):
		a.inside = true
	case a.inside && quotedLine.Match(line):
		var text string
		if json.Unmarshal(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(",")), &text) == nil {
			return append([]byte(text), '\n')
		}
	default:
		a.inside = false
	}
	return []byte("\n")
}

// longJSON breaks long lines of JSON at commas outside of strings.
type longJSON struct {
	quoted, escaped bool
	length          int
}

// longest is the length of a line above which longJSON breaks it.
const longest = 16 << 10

func (j *longJSON) line(line []byte) []byte {
	out := make([]byte, 0, len(line)+len(line)/longest+1)
	for _, c := range line {
		out = append(out, c)
		j.length++
		switch {
		case c == '\n':
			j.length = 0
		case j.escaped:
			j.escaped = false
		case c == '\\' && j.quoted:
			j.escaped = true
		case c == '"':
			j.quoted = !j.quoted
		case c == ',' && !j.quoted && j.length > longest:
			out, j.length = append(out, '\n'), 0
		}
	}
	return out
}

// filter changes a text line by line. A line longer than its buffer comes in pieces.
type filter struct {
	r      *bufio.Reader
	change func(line []byte) []byte
	rest   []byte
	err    error
}

func (f *filter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		var line []byte
		for len(line) < maxLine {
			more, err := f.r.ReadSlice('\n')
			line = append(line, more...)
			if !errors.Is(err, bufio.ErrBufferFull) {
				f.err = err
				break
			}
		}
		if len(line) > 0 {
			f.rest = f.change(line)
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
