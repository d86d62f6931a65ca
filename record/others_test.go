package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Pipes, devices and links in place of a file of a result are refused without blocking.
func TestNoFileOfAResultIsFollowed(t *testing.T) {
	for how, plant := range map[string]func(path string) error{
		"a pipe":               func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a link to a device":   func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to a secret":   func(path string) error { return os.Symlink("/etc/shadow", path) },
		"a link to the record": func(path string) error { return os.Symlink(RecordFile, path) },
		"a directory":          func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		for file, read := range map[string]func(dir string) error{
			PlanFile:     func(dir string) error { _, err := Read(dir); return err },
			ManifestFile: func(dir string) error { _, err := ReadManifest(dir); return err },
			RecordFile:   func(dir string) error { _, err := Scan(dir); return err },
			NodesFile:    func(dir string) error { _, err := ReadNodes(dir); return err },
		} {
			dir, _ := write(t, runLine(), blockLine(0))
			path := filepath.Join(dir, file)
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if err := plant(path); err != nil {
				t.Fatal(err)
			}
			if err := read(dir); err == nil || errors.Is(err, ErrNoRecord) {
				t.Errorf("%s is %s: %v", file, how, err)
			}
		}
	}
}

// The directory of a node is one below that of the run, and no link.
func TestDirectoriesOfNodes(t *testing.T) {
	dir, _ := write(t, runLine())
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "node"), 0o755), os.Symlink("/tmp", filepath.Join(dir, "linked"))); err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string]bool{"node": true, "..": false, ".": false, "": false, "/tmp": false, "../x": false, "node/x": false, "linked": false} {
		if err := WriteJSON(dir, NodesFile, Nodes{Schema: NodesSchema, Nodes: []NodeResult{{Name: "n", Dir: name}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadNodes(dir); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Nothing is written into a directory in which another user can put a link.
func TestNothingIsWrittenForOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: a directory of another user's")
	}
	dir, _ := write(t, runLine())
	target := filepath.Join(t.TempDir(), "target")
	if err := errors.Join(os.Symlink(target, filepath.Join(dir, PageFile)), os.Chown(dir, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(dir, PageFile, []byte("private")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("written behind the link: %v", err)
	}
}

// Between the check of a directory and its opening, another user can put a link there to another directory of
// this user: nothing is written into that.
func TestOpenSame(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "result"), filepath.Join(parent, "other")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(other, 0o755)); err != nil {
		t.Fatal(err)
	}
	looked, err := lstatOwn(dir)
	if err != nil {
		t.Fatal(err)
	}
	root, err := openSame(dir, looked)
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
	if err := errors.Join(os.Rename(dir, filepath.Join(parent, "away")), os.Symlink(other, dir)); err != nil {
		t.Fatal(err)
	}
	if root, err := openSame(dir, looked); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, %v", root, err)
	}
}
