package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/internal/trust"
)

const somebody = 12345 // a user's number

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
