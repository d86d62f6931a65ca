package steps

import (
	"errors"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Group takes back Tree.Make: it kills and removes the groups that the plan names. The path of
// each begins with tare-RUN or tare-RUN-.
type Group struct {
	Plan cgroup.Plan `json:"plan"`
}

// Kind is the word for it in a journal.
func (Group) Kind() string { return "cgroup" }

// String names the innermost group.
func (g Group) String() string {
	if len(g.Plan.Dirs) == 0 {
		return g.Kind()
	}
	return g.Kind() + " " + g.Plan.Dirs[len(g.Plan.Dirs)-1]
}

// Lasts is false: groups end with the machine.
func (Group) Lasts() bool { return false }

// Check refuses a plan with anything that is not the run's.
func (g Group) Check(run string) error {
	if len(g.Plan.Dirs) == 0 {
		return errors.New("no groups")
	}
	return g.Plan.Check(journal.Prefix + run)
}

// Undo removes the groups. A controller that was enabled for one of them can be disabled only
// when the last group is gone: that is tried again at the end. A controller that others use
// stays, and that is no failure.
func (g Group) Undo(u *journal.Undoing) error {
	if g.Plan.EnableAt != "" {
		u.AtEnd(func() { _ = cgroup.Undo(g.Plan) })
	}
	return cgroup.Undo(g.Plan)
}
