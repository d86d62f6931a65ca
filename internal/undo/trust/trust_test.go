package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/trust"
)

const somebody = 12345 // a user's id

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOwners(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string) (path string)
		says string // empty: trusted
	}{
		"own":         {func(*testing.T, string) string { return "" }, ""},
		"not there":   {func(*testing.T, string) string { return "a/b/c/none/yet" }, ""},
		"another's":   {func(t *testing.T, d string) string { must(t, os.Chown(d+"/a/b/c", somebody, somebody)); return "" }, "c is of user 12345"},
		"above":       {func(t *testing.T, d string) string { must(t, os.Chown(d+"/a", somebody, somebody)); return "" }, "a is of user 12345"},
		"for all":     {func(t *testing.T, d string) string { must(t, os.Chmod(d+"/a/b", 0o777)); return "" }, "b can be written by others"},
		"for a group": {func(t *testing.T, d string) string { must(t, os.Chmod(d+"/a/b", 0o770)); return "" }, "b can be written by others"},
		"sticky":      {func(t *testing.T, d string) string { must(t, os.Chmod(d+"/a/b", 0o777|os.ModeSticky)); return "" }, ""},
		"a link":      {func(t *testing.T, d string) string { must(t, os.Symlink(d+"/a", d+"/link")); return "link/b/c" }, ""},
		"whose link": {func(t *testing.T, d string) string {
			must(t, os.Symlink(d+"/a", d+"/link"), os.Lchown(d+"/link", somebody, somebody))
			return "link/b/c"
		}, "link is of user 12345"},
		"link to his": {func(t *testing.T, d string) string {
			must(t, os.Symlink(d+"/a", d+"/link"), os.Chown(d+"/a/b", somebody, somebody))
			return "link/b/c"
		}, "b is of user 12345"},
		"link to what is to be": {func(t *testing.T, d string) string {
			must(t, os.Symlink(d+"/a/b", d+"/link"), os.Chmod(d+"/a", 0o777))
			return "link/none/yet"
		}, "a can be written by others"},
		"link by his": {func(t *testing.T, d string) string {
			must(t, os.Mkdir(d+"/his", 0o755), os.Symlink("his/on", d+"/link"), os.Symlink("../a", d+"/his/on"), os.Chown(d+"/his", somebody, somebody))
			return "link/b/c"
		}, "his is of user 12345"},
		"back through a link": {func(t *testing.T, d string) string {
			must(t, os.Symlink(d+"/a/b/c", d+"/deep"), os.Symlink("deep/../up", d+"/link"), os.MkdirAll(d+"/a/b/up", 0o755))
			must(t, os.Mkdir(d+"/up", 0o755), os.Chown(d+"/a/b/up", somebody, somebody))
			return "link"
		}, "up is of user 12345"},
		"a ring": {func(t *testing.T, d string) string { must(t, os.Symlink("ring", d+"/ring")); return "ring/b" }, "too many levels"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o755))
			path := c.make(t, dir)
			if path == "" {
				path = "a/b/c"
			}
			err := trust.Dir(filepath.Join(dir, path))
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || hint.Of(err) == "" && name != "a ring") {
				t.Errorf("%v (%s), want %q", err, hint.Of(err), c.says)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		mode os.FileMode
		uid  int
		says string
	}{"own": {0o600, 0, ""}, "for all to read": {0o644, 0, ""}, "another's": {0o600, somebody, "of user 12345"}, "for all to write": {0o666, 0, "can be written by others"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(path, nil, 0o600), os.Chmod(path, c.mode), os.Chown(path, c.uid, c.uid))
			f, err := os.Open(path)
			must(t, err)
			defer f.Close()
			if err := trust.File(f); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		change func(path string) error
		says   string
	}{
		"own":         {func(string) error { return nil }, ""},
		"another's":   {func(p string) error { return os.Chown(p, somebody, somebody) }, "is of user 12345"},
		"for a group": {func(p string) error { return os.Chmod(p, 0o660) }, "can be written by others"},
		"two names":   {func(p string) error { return os.Link(p, p+"2") }, "has several hard links"},
		"a link":      {func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p)) }, "neither a file nor a directory"},
		"not there":   {os.Remove, "no such file"},
		"a directory": {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) }, ""},
		"a sticky one": {func(p string) error {
			return errors.Join(os.Remove(p), os.Mkdir(p, 0), os.Chmod(p, 0o777|os.ModeSticky))
		}, "can be written by others"},
		"a named pipe":   {func(p string) error { return errors.Join(os.Remove(p), unix.Mkfifo(p, 0o600)) }, "neither a file nor a directory"},
		"read by others": {func(p string) error { return os.Chmod(p, 0o644) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(path, nil, 0o600), c.change(path))
			if err := trust.Entry(path); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// Read reads only a file at the path itself, up to its limit.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	must(t, os.WriteFile(file, []byte("12345"), 0o600), os.Symlink(file, link), unix.Mkfifo(pipe, 0o600))
	for _, c := range []struct {
		path string
		most int64
		says string
	}{
		{file, 5, ""}, {file, 4, "more than 4 bytes"}, {link, 5, "is a link"}, {pipe, 5, "is not a regular file"},
		{dir, 5, "is not a regular file"}, {"/dev/zero", 5, "is not a regular file"}, {filepath.Join(dir, "none"), 5, "no such file"},
	} {
		b, err := trust.Read(c.path, c.most)
		if c.says == "" && (err != nil || string(b) != "12345") || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %q, %v, want %q", c.path, b, err, c.says)
		}
	}
}

// ReadGiven follows links, and reads no pipe or device.
func TestReadGiven(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe, large := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	must(t, os.WriteFile(file, []byte("12345"), 0o600), os.Symlink(file, link), unix.Mkfifo(pipe, 0o600),
		os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<40))
	for path, says := range map[string]string{
		file: "", link: "", pipe: "is not a regular file", "/dev/zero": "is not a regular file", large: "more than 16777216 bytes", dir: "is not a regular file",
	} {
		b, err := trust.ReadGiven(path)
		if says == "" && (err != nil || string(b) != "12345") || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %d bytes, %v, want %q", path, len(b), err, says)
		}
	}
}
