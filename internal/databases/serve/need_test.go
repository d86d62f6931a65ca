package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

// A program that is there and fails is not called missing: the error has the command, how it ended and the first line
// of its output, and no package to install.
func TestMissingOrUnusable(t *testing.T) {
	dir := t.TempDir()
	for name, need := range map[string]Need{
		"mariadbd":     {Service: Auto, Package: "mariadb-server"},
		"postgres":     {Service: "postgres", Path: filepath.Join(dir, "postgres"), Package: "postgresql"},
		"redis-server": {Service: "redis", Package: "redis-server"},
		"sysbench":     {Tool: "sysbench", Package: "sysbench"},
		"fio":          {Tool: "fio", Package: "fio"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho 'error while loading' >&2\necho more >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		err := need.Missing(t.Context())
		var unusable *UnusableError
		if !errors.As(err, &unusable) || !strings.Contains(err.Error(), path+" ") || !strings.Contains(err.Error(), "--version: exit status 1: error while loading") || strings.Contains(err.Error(), "more") {
			t.Errorf("%s: %v", name, err)
		}
		if remedy := hint.Of(err); !strings.HasPrefix(remedy, "mend or remove that program") {
			t.Errorf("%s: hint %q", name, remedy)
		}
	}
	err := Need{Tool: "no-such-tool", Package: "tools"}.Missing(t.Context())
	if unusable := (*UnusableError)(nil); errors.As(err, &unusable) || hint.Of(err) != "apt-get install tools" {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}
