package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Errors that a server logs and goes on are found without their time, each once; what every start logs is none.
func TestErrorsAtStart(t *testing.T) {
	for text, want := range map[string][]string{
		"2026-11-28T17:58:35.491379Z 0 [ERROR] [MY-010338] [Server] Can't find error-message file\n2026-11-28T17:58:36.1Z 0 [ERROR] [MY-010338] [Server] Can't find error-message file\n": {"[ERROR] [MY-010338] [Server] Can't find error-message file"},
		"2026-11-28 18:00:23 0 [Warning] Could not increase number of max_open_files\n2026-11-28 18:00:23 0 [Note] ready for connections\n":                                               nil,
		"2026-11-28 18:00:23.1 GMT [12] FATAL:  the database system is starting up\n":                                                                                                     nil,
		"2026.11.21 15:00:22.58 [ 1 ] {} <Error> Application: no disk\n":                                                                                                                  {"<Error> Application: no disk"},
		strings.Repeat("x", 1<<21):                             nil,
		"a [ERROR] 1\nb [ERROR] 2\nc [ERROR] 3\nd [ERROR] 4\n": {"[ERROR] 1", "[ERROR] 2", "[ERROR] 3"},
	} {
		path := filepath.Join(t.TempDir(), "server.log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := errorsAtStart(path); !slices.Equal(got, want) {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
