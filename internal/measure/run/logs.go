package run

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// createLog creates the file of a process's output, or empties it. It follows no link.
func createLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
}

// lastLines returns the end of a log for an error message; empty without a log. Errors that the log
// shows shortly before its end come first: a server names the cause, and then all that failed for
// it.
func lastLines(path string) string {
	const most, within = 5, 40
	b, err := os.ReadFile(path)
	if err != nil || len(strings.TrimSpace(string(b))) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	lines = lines[max(0, len(lines)-within):]
	last := max(0, len(lines)-most)
	var shown []string
	for i, l := range lines {
		if i >= last || len(shown) < most && marksError.MatchString(l) {
			shown = append(shown, l)
		}
	}
	return "\n  " + strings.Join(shown, "\n  ")
}

// marksError finds the errors in the logs of tare, MariaDB and MySQL, PostgreSQL and ClickHouse.
var marksError = regexp.MustCompile(`^tare: |\[ERROR\]|\b(FATAL|PANIC):|<(Error|Fatal)>`)

// startError finds an error in the log of a server, from its mark on: without the time.
var startError = regexp.MustCompile(`\[ERROR\].*|\b(?:FATAL|PANIC):.*|<(?:Error|Fatal)>.*`)

// errorsAtStart are the errors that a server has logged until it was ready, each once and at most three. It goes on in
// spite of them.
func errorsAtStart(path string) (all []string) {
	const most, longest, width = 3, 1 << 20, 300
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, longest)) // what was read is looked at
	for line := range strings.Lines(string(text)) {
		found := strings.TrimSpace(startError.FindString(line))
		// PostgreSQL refuses clients while it starts.
		if found == "" || strings.Contains(found, "the database system is starting up") || slices.Contains(all, found) {
			continue
		}
		if all = append(all, strings.ToValidUTF8(found[:min(len(found), width)], "")); len(all) == most {
			break
		}
	}
	return all
}

// warnOfServer warns of errors that the server of an instance logged at its start, of each once in a load.
func (l *loadRun) warnOfServer(s *instance) {
	if s.server == nil {
		return
	}
	for _, text := range errorsAtStart(s.log.Name()) {
		if l.serverErrors == nil {
			l.serverErrors = map[string]bool{}
		}
		if !l.serverErrors[text] {
			l.serverErrors[text] = true
			l.run.rec.warn(serverReported(text).of(l.load.Name, s.name))
		}
	}
}
