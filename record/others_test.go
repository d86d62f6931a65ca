package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

// TestInAnothersDirectory: whoever else owns a directory, or can write there, could put
// links in the place of the files that root is about to write.
func TestInAnothersDirectory(t *testing.T) {
	testneed.Root(t)
	anothers := func(dir string) error { return os.Chown(dir, 12345, 12345) }
	for name, c := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"another's":  {anothers, "is of user 12345"},
		"everyone's": {func(dir string) error { return os.Chmod(dir, 0o777) }, "all users can write there"},
	} {
		t.Run(name, func(t *testing.T) {
			planted := t.TempDir()
			if err := c.change(planted); err != nil {
				t.Fatal(err)
			}
			if _, err := record.Create(planted); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("created: %v", err)
			}
			if entries, err := os.ReadDir(planted); err != nil || len(entries) > 0 {
				t.Errorf("there: %v %v", entries, err)
			}
			for _, of := range []string{".", record.RawDir} {
				dir := filepath.Join(t.TempDir(), "result")
				w, err := record.Create(dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(w.Close(), c.change(filepath.Join(dir, of))); err != nil {
					t.Fatal(err)
				}
				if _, err := record.Open(dir, 0); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s opened: %v", of, err)
				}
			}
		})
	}
}
