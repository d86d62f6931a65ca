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
// the suite does not have, is a fault of the table. A choice that the environment says
// it cannot have has to be refused by Open too, with the remedy.
func Levels(t *testing.T, host environment.Host, levels []Level) {
	for _, l := range levels {
		if len(l.Cases) == 0 {
			t.Errorf("%s: no case", l.Name)
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			if choosy, ok := l.Env.(environment.Choosy); ok {
				if why := choosy.Suits(l.Choice.Container); why != nil {
					refused(t, l, host, why)
					return
				}
			}
			Run(t, l.Env, host, l.Options)
		})
	}
}

// HasCase says that the suite has a case of this name.
func HasCase(name string) bool {
	return slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name })
}
