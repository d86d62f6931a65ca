package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// A journal of another user is never undone, and is reported as left, with steps and without.
func TestCleanupOfAnothersJournal(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	for _, number := range []int{0, 1} {
		for _, dry := range []bool{false, true} {
			state := t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			j, err := journal.Open(journal.StateDir(), "r1")
			if err != nil {
				t.Fatal(err)
			}
			if number > 0 {
				if _, err := j.Add(steps.Directory{Path: filepath.Join(state, "tare-r1")}); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(journal.StateDir(), "journal", "r1.jsonl")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			// The process of the run ended long ago.
			text = []byte(strings.Replace(string(text), `"start_ticks":`, `"start_ticks":1`, 1))
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(file, int(uid), int(gid)); err != nil {
				t.Fatal(err)
			}
			out, c := captured(t)
			err = cleanupCommand{DryRun: dry}.Run(c)
			said := out()
			if err == nil || exitCode(err) != exitError || strings.Contains(said, "nothing to clean up") || strings.Contains(said, "undo") || !strings.Contains(said, "run r1") {
				t.Errorf("%d steps, dry %v: %v, said %q", number, dry, err, said)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("the journal: %v", err)
			}
		}
	}
}

// captured is a console, and a function that returns its standard output.
func captured(t *testing.T) (said func() string, c *console) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		defer f.Close()
		_, err := f.Seek(0, io.SeekStart)
		b, rerr := io.ReadAll(f)
		if err != nil || rerr != nil {
			t.Fatal(err, rerr)
		}
		return string(b)
	}, &console{stdout: f, stderr: f, getenv: func(string) string { return "" }, color: "never"}
}
