package journaltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Program fails the test unless Undo runs a step's program only if PATH leads to it or nobody
// else could have put it there. step makes the step for a program's name.
func Program(t *testing.T, name string, step func(program string) journal.Step) {
	t.Helper()
	top := t.TempDir()
	bin, seen := filepath.Join(top, "bin"), filepath.Join(top, "seen")
	program, script := filepath.Join(bin, name), fmt.Appendf(nil, "#!/bin/sh\nexec >>%s\necho $0 \"$@\"\n", seen)
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(program, script, 0o755)); err != nil {
		t.Fatal(err)
	}
	elsewhere := os.Getenv("PATH")
	for _, c := range []struct {
		path string
		mode os.FileMode
		runs bool
	}{{elsewhere, 0o777, false}, {elsewhere, 0o755, true}, {bin + ":" + elsewhere, 0o777, true}} {
		t.Setenv("PATH", c.path)
		if err := errors.Join(os.RemoveAll(seen), os.Chmod(bin, c.mode)); err != nil {
			t.Fatal(err)
		}
		err := step(program).Undo(&journal.Undoing{Run: "r1"})
		_, none := os.Lstat(seen)
		if ran := none == nil; ran != c.runs || !c.runs && (err == nil || hint.Of(err) == "") {
			t.Errorf("%s with mode %o and PATH %s: ran %v, %v", name, c.mode, c.path, ran, err)
		}
	}
}
