package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// Data that a load has changed is replaced by what was sent.
func TestRefill(t *testing.T) {
	from, dir := t.TempDir(), filepath.Join(t.TempDir(), "data")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(from, "file"), "words")
	for range 2 {
		if err := refill(dir, from); err != nil {
			t.Fatal(err)
		}
		names, err := os.ReadDir(dir)
		if got, readErr := os.ReadFile(filepath.Join(dir, "file")); err != nil || readErr != nil || string(got) != "words" || len(names) != 1 {
			t.Errorf("%q, %d files: %v %v", got, len(names), err, readErr)
		}
		write(filepath.Join(dir, "file"), "changed")
		write(filepath.Join(dir, "log"), "new")
	}
	if err := refill(dir, filepath.Join(from, "none")); err == nil {
		t.Error("copied what is not there")
	}
}
