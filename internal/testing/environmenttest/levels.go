package environmenttest

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// Whole is the tier in which all variants of an environment run the whole suite.
const Whole = "conformance"

// Fast are the cases in which a variant of an environment can differ; all cases in the tier Whole.
func Fast(cases ...string) []string {
	if testneed.Tier(Whole) {
		return nil
	}
	return cases
}

// Kills is Options.Kills: more in the tier Whole.
func Kills() int {
	if testneed.Tier(Whole) {
		return 3
	}
	return 1
}

// Level is an environment at one level of a factor, with the cases in which the level can differ. The
// environment itself runs the whole suite once.
type Level struct {
	Name string // of the level, as experiments write it
	Env  environment.Environment
	Options
}

// Levels runs the cases of each level. A level without a case, or with an unknown one, is an error of
// the table. Open has to refuse a choice that Capabilities.Refuses refuses, with the same remedy.
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
	for _, c := range openingCases {
		if c.name == name {
			return true
		}
	}
	return slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name })
}
