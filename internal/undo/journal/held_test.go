package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// standing is a Held step: a file with a text that is its change.
type standing struct {
	Path string `json:"path"`
}

func (standing) Kind() string       { return "standing" }
func (s standing) String() string   { return "standing " + s.Path }
func (standing) Lasts() bool        { return true }
func (standing) Check(string) error { return nil }
func (standing) Held()              {}

func (s standing) Undo(*Undoing) error {
	err := os.Remove(s.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// heldJournal is the journal of a killed process, with one Held step and one that is not.
func heldJournal(t *testing.T) (state, held, other string) {
	t.Helper()
	state = t.TempDir()
	held, other = filepath.Join(state, "held"), filepath.Join(state, "tare-r1")
	dead(t, state, "r1", nil, standing{held}, scratch{other})
	if err := errors.Join(os.WriteFile(held, nil, 0o600), os.Mkdir(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	return state, held, other
}

// Undo leaves a Held step with its journal, however often; Release undoes it and removes the journal.
func TestHeldStays(t *testing.T) {
	all := append(Kinds{KindOf[standing]()}, kinds...)
	state, held, other := heldJournal(t)
	for _, undone := range []int{1, 0, 0} {
		r, err := Undo(state, "r1", all)
		if err != nil || len(r.Undone) != undone || len(r.Failed) > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		left, err := Leftovers(state, all)
		if err != nil || len(left) != 1 || len(left[0].Steps) != 0 || len(left[0].Held) != 1 || gone(held) || !gone(other) {
			t.Fatalf("%+v, %v, held gone: %v, other gone: %v", left, err, gone(held), gone(other))
		}
	}
	if r, err := Release(state, "r1", all); err != nil || len(r.Undone) != 1 || !gone(held) || !gone(journalFile(state, "r1")) {
		t.Errorf("release: %+v, %v", r, err)
	}
}

// Forget removes the entry and leaves the change.
func TestForget(t *testing.T) {
	all := append(Kinds{KindOf[standing]()}, kinds...)
	state, held, other := heldJournal(t)
	if r, err := Forget(state, "r1", all); err != nil || len(r.Undone) != 2 || gone(held) || !gone(other) || !gone(journalFile(state, "r1")) {
		t.Errorf("%+v, %v", r, err)
	}
}
