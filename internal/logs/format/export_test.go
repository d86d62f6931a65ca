package format

import (
	"io"
	"strings"
)

// Learn returns the prefixes of a log.
func (l Tools) Learn(head []byte) (out []string) {
	for _, p := range l.learn(head) {
		out = append(out, string(p))
	}
	return out
}

// Unfold rewrites a table of reports.
func (l Tools) Unfold(text []byte) []byte { return l.unfold(text) }

// BareLines returns the lines of a text as readers get them, without indentation.
func (l Tools) BareLines(r io.Reader) string {
	var out []string
	lines := newLines(r)
	for lines.known = l; lines.Next(); {
		out = append(out, strings.TrimSpace(string(lines.Bytes())))
	}
	return strings.Join(out, "\n")
}
