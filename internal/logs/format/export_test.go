package format

import (
	"io"
	"strings"
)

// Learn is what stands before the lines of a log.
func (l Tools) Learn(head []byte) (out []string) {
	for _, p := range l.learn(head) {
		out = append(out, string(p))
	}
	return out
}

// Unfold takes a table of reports apart.
func (l Tools) Unfold(text []byte) []byte { return l.unfold(text) }

// BareLines are the lines of a text as the readers see them, without indentation.
func (l Tools) BareLines(r io.Reader) string {
	var out []string
	lines := NewLines(r)
	for lines.known = l; lines.Next(); {
		out = append(out, strings.TrimSpace(string(lines.Bytes())))
	}
	return strings.Join(out, "\n")
}
