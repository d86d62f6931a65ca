package environmenttest

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/environment"
)

// Level is an environment at one level of a factor, with the cases that this
// level can change. The environment itself passes the suite once in full.
type Level struct {
	Name string // of the level, as one writes it
	Env  environment.Environment
	Options
}

// Levels tries the cases of each level. A level without a case, or with one that
// the suite does not have, is a fault of the table.
func Levels(t *testing.T, host environment.Host, levels []Level) {
	for _, l := range levels {
		if len(l.Cases) == 0 {
			t.Errorf("%s: no case", l.Name)
			continue
		}
		for _, name := range l.Cases {
			if !HasCase(name) {
				t.Errorf("%s: the suite has no case %q", l.Name, name)
			}
		}
		t.Run(l.Name, func(t *testing.T) { Run(t, l.Env, host, l.Options) })
	}
}

// HasCase says that the suite has a case of this name.
func HasCase(name string) bool {
	return slices.ContainsFunc(cases, func(c struct {
		name string
		try  func(*testing.T, *fixture)
	}) bool {
		return c.name == name
	})
}
