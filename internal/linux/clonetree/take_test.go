package clonetree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// given is a directory of root's in which "db" and all in it belong to another user, and a file
// beside the directory that does too.
func given(t *testing.T) (dir, beside string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "set")
	beside = dir + "-beside"
	must(t, os.MkdirAll(filepath.Join(dir, "db/sub"), 0o700), os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "db/sub/file"), []byte("rows"), 0o640),
		os.WriteFile(beside, []byte("theirs"), 0o600), os.Chown(beside, somebody, somebody),
		GiveAll(filepath.Join(dir, "db"), somebody, somebody))
	return dir, beside
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode().Perm()
}

func TestTake(t *testing.T) {
	testneed.Root(t)
	dir, beside := given(t)
	sub := filepath.Join(dir, "db/sub")
	must(t, os.Chmod(sub, 0o777), os.Link(beside, filepath.Join(sub, "linked")), os.Symlink(beside, filepath.Join(sub, "link")),
		os.Lchown(filepath.Join(sub, "link"), somebody, somebody))
	must(t, Take(dir))
	for _, name := range []string{"", "secret", "db", "db/sub", "db/sub/file", "db/sub/linked"} {
		if got := owner(t, filepath.Join(dir, name)); got != 0 {
			t.Errorf("%q is of user %d", name, got)
		}
	}
	if got := mode(t, sub); got != 0o755 {
		t.Errorf("others can write: %v", got)
	}
	if got := mode(t, filepath.Join(sub, "file")); got != 0o640 {
		t.Errorf("the mode of a file became %v", got)
	}
	if owner(t, beside) != somebody {
		t.Error("it took a file that has another name outside")
	}
	// The copy is another file than the one that the other user can still write.
	must(t, os.WriteFile(beside, []byte("changed"), 0o600))
	if b, err := os.ReadFile(filepath.Join(sub, "linked")); err != nil || string(b) != "theirs" {
		t.Errorf("in its place: %q, %v", b, err)
	}
}

// A file of root's in another user's directory was linked there: its content would go to
// whoever gets a copy.
func TestTakeRefusesOthers(t *testing.T) {
	testneed.Root(t)
	dir, _ := given(t)
	must(t, os.WriteFile(filepath.Join(dir, "db/shadow"), []byte("precious"), 0o600))
	if err := Take(dir); err == nil || !strings.Contains(err.Error(), "db/shadow is of user 0, in a directory of user 12345") {
		t.Errorf("got %v", err)
	}
	must(t, os.Chown(dir, somebody, somebody))
	if err := Take(dir); err == nil || !strings.Contains(err.Error(), "it is of user 12345") || owner(t, dir) != somebody {
		t.Errorf("a directory of another user's: %v", err)
	}
}
