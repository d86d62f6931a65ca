package steps

import (
	"errors"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Group undoes cgroup.Tree.Make: it kills the processes in the groups of the plan and removes
// the groups. The path of each group begins with tare-RUN or tare-RUN-.
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

// Lasts is false: a restart of the machine ends all groups.
func (Group) Lasts() bool { return false }

// Check refuses a plan with a group that is not the run's.
func (g Group) Check(run string) error {
	if len(g.Plan.Dirs) == 0 {
		return errors.New("no groups")
	}
	return g.Plan.Check(journal.Prefix + run)
}

// Undo removes the groups. A controller can be disabled only after the last group that has it
// is gone, so Undo tries that again at the end. A controller that others use stays enabled,
// which is no failure.
func (g Group) Undo(u *journal.Undoing) error {
	if g.Plan.EnableAt != "" {
		u.AtEnd(func() { _ = cgroup.Undo(g.Plan) })
	}
	return cgroup.Undo(g.Plan)
}
