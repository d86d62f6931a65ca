package run

import (
	"os"
	"regexp"
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
