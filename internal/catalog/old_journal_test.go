package catalog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// The journal is of the time when all kinds of steps were one type. It has one step of each kind as
// tare writes it, one whose names are not the run's, and one of a kind that no version has: the journal is damaged. The texts beside it are what that tare
// left, undid and refused, for a journal of this boot and of another. /nowhere is a directory of
// the test.
const oldJournal, oldBoot = "testdata/old-journal", "00000000-0000-4000-8000-000000000000"

func TestOldJournal(t *testing.T) {
	t.Setenv("PATH", "") // tools that are installed here would say other things
	written, err := os.ReadFile(filepath.Join(oldJournal, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for start, boot := range map[string]string{"this": journaltest.Header(t, "old").Boot, "earlier": oldBoot, "unknown": ""} {
		t.Run(start, func(t *testing.T) {
			state, nowhere := t.TempDir(), t.TempDir()
			for _, d := range []string{
				"tare-old/sub", "tare-old-0badcafe", "tare-old-c/runtime/tare-old-c-1",
				"cgroup", "home", "mnt", "tare-other",
			} {
				must(t, os.MkdirAll(filepath.Join(nowhere, d), 0o755))
			}
			text := strings.ReplaceAll(strings.Replace(string(written), oldBoot, boot, 1), "/nowhere/", nowhere+"/")
			file := journaltest.File(state, "old")
			must(t, os.MkdirAll(filepath.Dir(file), 0o700))
			must(t, os.WriteFile(file, []byte(text), 0o600))
			got := strings.ReplaceAll(undoOld(t, state, nowhere), nowhere+"/", "/nowhere/")
			want, err := os.ReadFile(filepath.Join(oldJournal, start+".txt"))
			must(t, err)
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mountError is the beginning of the error of a failed mount; the rest differs between hosts.
var mountError = regexp.MustCompile(`(?m)^(failed (?:nfs|cephfs) [^:]+: remove \S+ from \S+): .*$`)

// undoOld returns what is left of the old run, what was undone and refused, and which files exist
// then.
func undoOld(t *testing.T, state, nowhere string) string {
	t.Helper()
	var b strings.Builder
	left, err := journal.Leftovers(state, catalog.Steps())
	must(t, err)
	for _, s := range left[0].Steps {
		fmt.Fprintf(&b, "left %s\n", s)
	}
	r, err := journal.Undo(state, "old", catalog.Steps())
	fmt.Fprintln(&b, "error", strings.ReplaceAll(fmt.Sprint(err), state, "STATE"))
	for _, s := range r.Undone {
		fmt.Fprintf(&b, "undone %s\n", s)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(&b, "failed %s: %s\n", f.Step, strings.ReplaceAll(f.Err.Error(), "\n", " | "))
	}
	must(t, filepath.WalkDir(nowhere, func(path string, _ fs.DirEntry, err error) error {
		if path != nowhere {
			fmt.Fprintln(&b, "there", path)
		}
		return err
	}))
	return mountError.ReplaceAllString(b.String(), "$1")
}
