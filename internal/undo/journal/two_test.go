package journal

import (
	"errors"
	"os"
	"testing"
	"time"
)

// Of two cleanups at once each step is undone once, or one cleanup sees the other.
func TestTwoCleanups(t *testing.T) {
	dir := t.TempDir()
	dead(t, dir, "r1", nil, scratch{"/nowhere/tare-r1"})
	f, err := os.Open(journalFile(dir, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock(f); err != nil {
		t.Fatal(err)
	}
	if _, err := undo(dir, "r1", kinds, time.Millisecond); !errors.Is(err, ErrLive) {
		t.Errorf("undone beside another cleanup: %v", err)
	}
	if left, err := Leftovers(dir, kinds); err != nil || len(left) != 1 || !left[0].Live || !left[0].Killed {
		t.Errorf("%+v %v", left, err)
	}
	time.AfterFunc(10*time.Millisecond, func() { f.Close() })
	undone(t, dir, "r1") // waits for the other cleanup
}
