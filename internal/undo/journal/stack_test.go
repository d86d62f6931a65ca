package journal

import (
	"errors"
	"slices"
	"testing"
)

// The newest change is undone first. A step whose undo fails stays in the journal.
func TestUndoStack(t *testing.T) {
	j := mustOpen(t, t.TempDir(), "r1")
	var s UndoStack
	var order []string
	push := func(name string, err error) func() error {
		return func() error { order = append(order, name); return err }
	}
	failure := errors.New("busy")
	err := errors.Join(
		s.Record(j, scratch{"/x/tare-r1-a"}, push("first", nil)),
		s.Record(j, scratch{"/x/tare-r1-b"}, push("second", failure)),
	)
	if err != nil {
		t.Fatal(err)
	}
	s.Push(push("third", nil))
	if err := s.Record(j, scratch{"/home"}, push("refused", nil)); err == nil {
		t.Error("recorded what is not the run's")
	}
	if err := s.Undo(); !errors.Is(err, failure) {
		t.Errorf("undo: %v", err)
	}
	if err := s.Undo(); err != nil {
		t.Errorf("nothing is left to undo: %v", err)
	}
	if want := []string{"third", "second", "first"}; !slices.Equal(order, want) {
		t.Errorf("in the order %v, want %v", order, want)
	}
	if j.Left() != 1 {
		t.Errorf("%d steps left, want the one whose undo failed", j.Left())
	}
}
