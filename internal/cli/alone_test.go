package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// A run whose journal could not be undone is refused before it looks at the host.
func TestAloneUntrusted(t *testing.T) {
	state, locks := t.TempDir(), filepath.Join(t.TempDir(), "run")
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv(hostlock.DirEnv, locks)
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, beside := range []bool{false, true} {
		_, err := alone("r", beside)
		if exitCode(err) != exitError || !strings.Contains(err.Error(), state+" can be written by others") ||
			!strings.Contains(hint.Of(err), "XDG_STATE_HOME") {
			t.Errorf("beside %v: %v (%s)", beside, err, hint.Of(err))
		}
		if _, err := os.Stat(locks); !os.IsNotExist(err) {
			t.Errorf("beside %v: the lock was made: %v", beside, err)
		}
	}
	if err := os.Chmod(state, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := alone("r", false)
	if err != nil {
		t.Fatal(err)
	}
	lock.Release()
}
