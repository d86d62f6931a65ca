package environmenttest

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// Whole is the tier in which every variant of an environment passes the whole suite.
const Whole = "conformance"

// Fast are the cases that a variant of an environment can change; all in the tier
// Whole.
func Fast(cases ...string) []string {
	if testneed.Tier(Whole) {
		return nil
	}
	return cases
}

// Kills is at how many moments a process is killed: at more in the tier Whole.
func Kills() int {
	if testneed.Tier(Whole) {
		return 3
	}
	return 1
}

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
func Levels(t *testing.T, host facts.Host, levels []Level) {
	for _, l := range levels {
		if len(l.Cases) == 0 {
			t.Errorf("%s: no case", l.Name)
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			if refuses := l.Env.Capabilities().Refuses; refuses != nil {
				if why := refuses(l.Choice.Container); why != nil {
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
	for _, c := range armless {
		if c.name == name {
			return true
		}
	}
	return slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name })
}
