package pgbench

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// aborted passes pgbench's log on and finds the line that says that pgbench lost a client and
// continues without it.
type aborted struct {
	next io.Writer

	mu    sync.Mutex
	rest  []byte
	found string
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
	for a.found == "" {
		line, rest, whole := bytes.Cut(a.rest, []byte("\n"))
		if !whole {
			return
		}
		a.rest = rest
		// "pgbench: error: client 3 script 0 aborted in command 4 query 0: ERROR: ..."
		if s := string(line); strings.Contains(s, "client ") && strings.Contains(s, "aborted") {
			a.found = strings.TrimSpace(s)
		}
	}
	a.rest = nil
}

// line is the line that was found, "" if there was none yet.
func (a *aborted) line() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found
}
