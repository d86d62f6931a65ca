package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// scratch is a step that removes an empty directory of the run.
type scratch struct {
	Path string `json:"path,omitempty"`
}

func (scratch) Kind() string     { return "directory" }
func (s scratch) String() string { return "directory " + s.Path }
func (scratch) Lasts() bool      { return true }

func (s scratch) Check(run string) error {
	return Own(Plain(s.Path) && OfRun(filepath.Base(s.Path), run), s.Path)
}

func (s scratch) Undo(*Undoing) error {
	if err := os.Remove(s.Path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// counted is a step that ends with the machine and counts the calls of its methods.
type counted struct {
	Name string `json:"name"`
	// Fails is the number of rounds in which it fails.
	Fails int `json:"fails,omitempty"`
	// Stays makes Undo return the error of Stays.
	Stays bool `json:"stays,omitempty"`
}

func (counted) Kind() string       { return "counted" }
func (c counted) String() string   { return "counted " + c.Name }
func (counted) Lasts() bool        { return false }
func (counted) Check(string) error { return nil }

// calls are the calls of the counted steps of one undoing.
type calls []string

var lastCalls *calls

func (c counted) Undo(u *Undoing) error {
	lastCalls = Shared[calls](u)
	*lastCalls = append(*lastCalls, c.Name)
	u.AtEnd(func() { *lastCalls = append(*lastCalls, "end of "+c.Name) })
	if c.Stays {
		return Stays(errors.New("it stays"))
	}
	if u.Round <= c.Fails {
		return errors.New("not yet")
	}
	return nil
}

// kinds are those of these tests.
var kinds = Kinds{KindOf[scratch](), KindOf[counted](), KindOf[asking]()}

// unknown is a step of a kind that is not in the list.
func unknown(kind, path string) Step { return future{kind, path} }

type future struct {
	kind string
	Path string `json:"path,omitempty"`
}

func (f future) Kind() string      { return f.kind }
func (f future) String() string    { return f.kind + " " + f.Path }
func (future) Lasts() bool         { return true }
func (future) Check(string) error  { return nil }
func (future) Undo(*Undoing) error { return nil }

// text is a step as it is in a journal.
func text(s Step) []byte {
	b, err := Text(s)
	if err != nil {
		panic(err)
	}
	return b
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// The text of a step is the JSON of its fields with the kind first, and is read as the same
// step.
func TestTextAndRead(t *testing.T) {
	for want, s := range map[string]Step{
		`{"kind":"directory","path":"/x/tare-r"}`: scratch{"/x/tare-r"},
		`{"kind":"directory"}`:                    scratch{},
		`{"kind":"counted","name":"<"}`:           counted{Name: "<"},
	} {
		got, err := Text(s)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := kinds.Read(got); err != nil || back != s {
			t.Errorf("%s is read as %+v: %v", got, back, err)
		}
		if back, err := kinds.Read([]byte(want)); err != nil || back != s {
			t.Errorf("%s is read as %+v: %v", want, back, err)
		}
	}
	if s, err := kinds.Read([]byte(`{"kind":"directory","path":5}`)); err == nil {
		t.Errorf("a path that is a number was read as %+v", s)
	}
}

// Steps are undone from the newest to the oldest. A failed step is tried once more, a step with
// Stays is not. AtEnd's function runs once for each step.
func TestUndoOrder(t *testing.T) {
	dir := t.TempDir()
	dead(t, dir, "r1", nil, counted{Name: "a"}, counted{Name: "b", Fails: 1}, counted{Name: "c", Stays: true}, counted{Name: "d", Fails: 2})
	r, err := Undo(dir, "r1", kinds)
	if err != nil {
		t.Fatal(err)
	}
	want := calls{"d", "c", "b", "a", "d", "b", "end of d", "end of c", "end of b", "end of a"}
	if !slices.Equal(*lastCalls, want) {
		t.Errorf("calls %q, want %q", *lastCalls, want)
	}
	var failed []string
	for _, f := range r.Failed {
		failed = append(failed, f.Step.String()+": "+f.Err.Error())
	}
	if want := []string{"counted d: not yet", "counted c: it stays"}; !slices.Equal(failed, want) {
		t.Errorf("failed %q, want %q", failed, want)
	}
}

// After a restart a change that ended with the machine is not undone.
func TestUndoAfterRestart(t *testing.T) {
	own := filepath.Join(t.TempDir(), "tare-r1")
	for boot, called := range map[string]bool{"another": false, "": true} {
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		lastCalls = nil
		dead(t, dir, "r1", func(h *Header) { h.Boot = boot }, counted{Name: "a"}, scratch{own})
		r := undone(t, dir, "r1")
		if len(r.Undone) != 2 || (lastCalls != nil) != called || !gone(own) {
			t.Errorf("boot %q: undone %v, calls %v, directory gone: %v", boot, r.Undone, lastCalls, gone(own))
		}
	}
}

// Steps get the moment until which daemons may work on the killed run's requests, and whether
// the journal may be of an earlier boot.
func TestUndoing(t *testing.T) {
	dir := t.TempDir()
	for boot, unknown := range map[string]bool{"": true, "this": false} {
		dead(t, dir, "r1", func(h *Header) {
			if boot == "" {
				h.Boot = ""
			}
		}, asking{})
		undone(t, dir, "r1")
		if asked.StartUnknown != unknown || asked.Run != "r1" || !asked.Late.After(time.Now()) {
			t.Errorf("boot %q: %+v", boot, asked)
		}
	}
}

// asking is a step that keeps the Undoing that it gets.
type asking struct{}

var asked Undoing

func (asking) Kind() string          { return "asking" }
func (asking) String() string        { return "asking" }
func (asking) Lasts() bool           { return true }
func (asking) Check(string) error    { return nil }
func (asking) Undo(u *Undoing) error { asked = *u; return nil }
