package netns

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Links and mounts that are made in the namespaces, and files in directories of their own, are in no other place.
func TestNamespaces(t *testing.T) {
	testneed.Root(t)
	dir, point := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "before"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewNamespaces(dir, filepath.Join(dir, "missing"))
	if err != nil {
		t.Fatal(err)
	}
	var inside []string
	err = r.In(func() error {
		if err := unix.Mount("tmpfs", point, "tmpfs", 0, ""); err != nil {
			return err
		}
		inside, _ = filepath.Glob(filepath.Join(dir, "*"))
		return os.WriteFile(filepath.Join(dir, "inside"), nil, 0o600)
	})
	if err != nil || len(inside) > 0 {
		t.Errorf("%v, %q", err, inside)
	}
	again := false
	if err := r.In(func() error {
		_, err := os.Stat(filepath.Join(dir, "inside"))
		again = err == nil
		return nil
	}); err != nil || !again {
		t.Errorf("the file of the namespaces is gone: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), point) {
		t.Errorf("a mount of the namespaces is here: %v", err)
	}
	if here, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(here, []string{filepath.Join(dir, "before")}) {
		t.Errorf("files here: %q", here)
	}
}
