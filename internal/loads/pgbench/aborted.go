package pgbench

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/loads/load"
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

// inCommand finds the number of the command in which pgbench lost a client.
var inCommand = regexp.MustCompile(`aborted in command (\d+) (?:query \d+|\([^)]*\)(?: of script \d+)?)[:;]\s*`)

// lostClient is the error about a lost client: with FILE:LINE if a statement of the user's file failed.
func lostClient(line, path string, script load.Script) error {
	if at := inCommand.FindStringSubmatchIndex(line); at != nil && script.Text() != nil {
		n, _ := strconv.Atoi(line[at[2]:at[3]])
		if found := sqlfile.LineOfCommand(script.Text(), n); found > 0 {
			return fmt.Errorf("pgbench lost a client: %s:%d: %s", path, found, line[at[1]:])
		}
	}
	return fmt.Errorf("pgbench lost a client: %s", line)
}
