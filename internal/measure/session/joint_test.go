package session_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
)

// faulty is a freezer that fails in the named steps.
type faulty struct {
	freezer
	fails  map[string]error
	within time.Duration // that it was given to freeze
}

func (f *faulty) step(what string) error {
	f.say(what + " " + f.name)
	return f.fails[what+" "+f.name]
}

func (f *faulty) Ask() error                         { return f.step("ask") }
func (f *faulty) Confirm(within time.Duration) error { f.within = within; return f.step("confirm") }
func (f *faulty) Thaw() error                        { return f.step("thaw") }

// Both are asked before either is confirmed, and a freeze that fails leaves both thawed.
func TestJoint(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		fails  map[string]error
		freeze []string
	}{
		{"in two steps", nil, []string{"ask neighbour", "ask arm", "confirm neighbour", "confirm arm"}},
		{"the neighbour is not asked", map[string]error{"ask neighbour": broken}, []string{"ask neighbour"}},
		{"the arm is not asked", map[string]error{"ask arm": broken}, []string{"ask neighbour", "ask arm", "thaw neighbour", "thaw arm"}},
		{
			"the neighbour does not stop", map[string]error{"confirm neighbour": wire.ErrNotFrozen},
			[]string{"ask neighbour", "ask arm", "confirm neighbour", "thaw neighbour", "thaw arm"},
		},
		{
			"the arm does not stop", map[string]error{"confirm arm": wire.ErrNotFrozen},
			[]string{"ask neighbour", "ask arm", "confirm neighbour", "confirm arm", "thaw neighbour", "thaw arm"},
		},
		{
			"a thaw fails too", map[string]error{"confirm arm": wire.ErrNotFrozen, "thaw neighbour": broken},
			[]string{"ask neighbour", "ask arm", "confirm neighbour", "confirm arm", "thaw neighbour", "thaw arm"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &heard{}
			var made []*faulty
			of := func(name string) wire.Freezer {
				f := &faulty{freezer: freezer{heard: h, name: name}, fails: c.fails}
				made = append(made, f)
				return f
			}
			joint := session.Joint(of("neighbour"), of("arm"))
			if err := joint.Freeze(time.Hour); (err != nil) != (len(c.fails) > 0) {
				t.Errorf("%v", err)
			} else {
				for _, want := range c.fails {
					if !errors.Is(err, want) {
						t.Errorf("%v is not told by %v", want, err)
					}
				}
			}
			if !slices.Equal(h.said, c.freeze) {
				t.Errorf("%q, want %q", h.said, c.freeze)
			}
			for _, f := range made {
				if f.within < 0 || f.within > time.Hour {
					t.Errorf("%s has %v to freeze", f.name, f.within)
				}
			}
		})
	}
}

// Both are thawed, also when the first thaw fails.
func TestJointThaw(t *testing.T) {
	h, broken := &heard{}, errors.New("broken")
	its := &faulty{freezer: freezer{heard: h, name: "neighbour"}, fails: map[string]error{"thaw neighbour": broken}}
	joint := session.Joint(its, &freezer{heard: h, name: "arm"})
	if err := joint.Thaw(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if want := []string{"thaw neighbour", "thaw arm"}; !slices.Equal(h.said, want) {
		t.Errorf("%q, want %q", h.said, want)
	}
}
