package identity

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/testing/testneed"
)

func write(t interface{ Fatal(...any) }, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// operations change a file at a path. Those that are true make another file of it.
var operations = map[string]struct {
	do      func(path string) error
	another bool
}{
	"read":  {func(p string) error { _, err := os.ReadFile(p); return err }, false},
	"chmod": {func(p string) error { return os.Chmod(p, 0o700) }, false},
	"link":  {func(p string) error { return os.Link(p, p+time.Now().String()) }, false},
	"move and back": {func(p string) error {
		return errors.Join(os.Rename(p, p+"~"), os.Rename(p+"~", p))
	}, false},
	"write in place": {func(p string) error { return os.WriteFile(p, []byte("longer than before"), 0) }, true},
	"write the same length, with the old time": {func(p string) error {
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		text := strings.Repeat("x", int(st.Size()))
		return errors.Join(os.WriteFile(p, []byte(text), 0), os.Chtimes(p, st.ModTime(), st.ModTime()))
	}, true},
	"replace by a copy": {func(p string) error {
		text, err := os.ReadFile(p)
		return errors.Join(err, os.WriteFile(p+".new", text, 0o755), os.Rename(p+".new", p))
	}, true},
	"remove": {os.Remove, true},
	"a link in its place": {func(p string) error {
		return errors.Join(os.Rename(p, p+"-1"), os.WriteFile(p+"-2", []byte("1"), 0o755), os.Symlink(p+"-2", p))
	}, true},
	"a directory in its place": {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, true},
}

func TestChanged(t *testing.T) {
	var names []string
	for name := range operations {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "identity")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path, other := filepath.Join(dir, "program"), filepath.Join(dir, "other")
		write(t, path, "program")
		write(t, other, "other")
		var f Files
		defer f.Close()
		if err := f.Take(other, path, path); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(t, "operations") {
			name := rapid.SampledFrom(names).Draw(t, "operation")
			if err := operations[name].do(path); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			err := f.Changed()
			if got := errors.Is(err, ErrReplaced); got != operations[name].another {
				t.Fatalf("%s: %v", name, err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), path) {
					t.Fatalf("%s: %v names no file", name, err)
				}
				return
			}
		}
	})
}

func TestTake(t *testing.T) {
	dir := t.TempDir()
	var f Files
	if err := f.Changed(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(dir, "none"), dir} {
		if err := f.Take(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	path := filepath.Join(dir, "abc")
	write(t, path, "abc")
	if err := f.Take(path); err != nil {
		t.Fatal(err)
	}
	if got := f.Sums()[path]; got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("SHA-256 of abc is %s", got)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestTakeMapped takes the libraries of a process, and notices that one is replaced.
func TestTakeMapped(t *testing.T) {
	loaders, _ := filepath.Glob("/lib64/ld-linux-*.so.*")
	libraries, _ := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if len(loaders) == 0 || len(libraries) == 0 {
		t.Skip("no dynamic loader of glibc")
	}
	sleep := testneed.Tool(t, "sleep")
	dir := t.TempDir()
	library := filepath.Join(dir, "libc.so.6")
	replace := func() {
		text, err := os.ReadFile(libraries[0])
		if err := errors.Join(err, os.WriteFile(library+".new", text, 0o755), os.Rename(library+".new", library)); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	cmd := exec.Command(loaders[0], "--library-path", dir, sleep, "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var f Files
	defer f.Close()
	for f.Sums()[library] == "" { // until the loader has mapped it
		if err := f.TakeMapped(cmd.Process.Pid, "/no such path"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Changed(); err != nil {
		t.Fatal(err)
	}
	replace()
	if err := f.Changed(); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), library) {
		t.Errorf("after the library was replaced: %v", err)
	}
	var late Files
	defer late.Close()
	if err := late.TakeMapped(cmd.Process.Pid, "/no such path"); !errors.Is(err, ErrReplaced) {
		t.Errorf("a process executes the file before: %v", err)
	}
	var other Files
	defer other.Close()
	if err := other.TakeMapped(cmd.Process.Pid, dir); err != nil || other.Sums()[library] != "" {
		t.Errorf("%v with %v, want nothing below %s", err, other.Sums(), dir)
	}
}

func TestOwn(t *testing.T) {
	path, err := Own()
	if err != nil || !filepath.IsAbs(path) {
		t.Errorf("%q, %v", path, err)
	}
}
