package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Volumes of rbd-fuse are no more, and the journals of runs that had them are undone: the
// image is removed after what shows it is unmounted.
func TestUndoRBDFuse(t *testing.T) {
	dir, tools := t.TempDir(), t.TempDir()
	recorded(t, dir, "rbd-fuse")
	asked := filepath.Join(tools, "asked")
	if err := os.WriteFile(filepath.Join(tools, "rbd"), []byte("#!/bin/sh\necho \"$@\" >> "+asked+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	if r := undone(t, dir, "gone"); len(r.Undone) != 8 {
		t.Errorf("undone: %+v", r.Undone)
	}
	b, _ := os.ReadFile(asked)
	if got := string(b); !strings.HasPrefix(got, "--conf /etc/ceph/ceph.conf") || !strings.HasSuffix(got, "rm --no-progress rbd/tare-tare-gone-arm\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("rbd was asked %q", got)
	}
}

// Classes of resctrl are no more: the one that a run left is removed.
func TestUndoClass(t *testing.T) {
	dir, class := t.TempDir(), filepath.Join(t.TempDir(), "tare-gone-arm")
	recorded(t, dir, "resctrl", "/sys/fs/resctrl/tare-gone-arm", class)
	if err := os.Mkdir(class, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := undone(t, dir, "gone"); len(r.Undone) != 1 || !gone(class) {
		t.Errorf("undone: %+v", r.Undone)
	}
}

// recorded puts a journal of testdata, which an earlier version wrote, where run "gone" has
// its own, with words replaced. This boot takes the place of the one in it.
func recorded(t *testing.T, dir, name string, replace ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := self("gone")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append(replace, "00000000-0000-4000-8000-000000000000", h.Boot)...).Replace(string(b))
	if err := os.MkdirAll(journalDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journalFile(dir, "gone"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
