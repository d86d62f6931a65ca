package pgbench

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// aborted looks for the line with which pgbench says that it goes on with one
// client less.
type aborted struct {
	next io.Writer

	mu   sync.Mutex
	rest []byte
	said string
}

// Write passes everything on.
func (a *aborted) Write(b []byte) (int, error) {
	a.look(b)
	return a.next.Write(b)
}

func (a *aborted) look(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rest = append(a.rest, b...)
	for a.said == "" {
		line, rest, found := bytes.Cut(a.rest, []byte("\n"))
		if !found {
			return
		}
		a.rest = rest
		// "pgbench: error: client 3 script 0 aborted in command 4 query 0: ERROR: ..."
		if s := string(line); strings.Contains(s, "client ") && strings.Contains(s, "aborted") {
			a.said = strings.TrimSpace(s)
		}
	}
	a.rest = nil
}

// line is what was said; empty: nothing yet.
func (a *aborted) line() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said
}
