package inspect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// errNoJournal is why a feature was not tried. The error that it wraps has the remedy.
var errNoJournal = errors.New("not tried, for there is no way back")

// undoing takes the changes of the trials back: they make groups and a directory for a moment, in
// which tare may be killed. Its guard then takes them back.
type undoing struct {
	run     string
	guard   *launch.Guard
	journal *journal.Journal // nil where it cannot be written
	none    error            // why it cannot
	missing []string         // directories that did not exist before, innermost first
}

// newUndoing opens a journal for the trials. Where it cannot be written, or other users could write
// it, features that need a change of the host are not tried and count as unknown. A run fails
// there, but tare plan must not.
func newUndoing() *undoing {
	t := &undoing{run: fmt.Sprintf("inspect%dx%s", os.Getpid(), strings.ToLower(rand.Text()[:8]))}
	for dir := filepath.Join(journal.StateDir(), "journal"); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		t.missing = append(t.missing, dir)
	}
	if t.journal, t.none = journal.Open(journal.StateDir(), t.run); t.none != nil {
		return t
	}
	if t.guard, t.none = launch.NewGuard(journal.StateDir(), t.run, nil); t.none != nil {
		_ = t.journal.Close()
		t.removeMissing()
	}
	return t
}

// close closes the journal and removes the directories that it made: tare plan changes nothing.
func (t *undoing) close() error {
	if t.none != nil {
		return nil
	}
	err := t.journal.Close()
	t.guard.Dismiss()
	t.removeMissing()
	return err
}

func (t *undoing) removeMissing() {
	for _, dir := range t.missing {
		if os.Remove(dir) != nil { // not empty
			return
		}
	}
}

// with writes the step to the journal and calls do, which makes the change and takes it back. If do
// succeeds the step is marked as done.
func (t *undoing) with(s journal.Step, do func() error) error {
	if t.none != nil {
		return fmt.Errorf("%w: %w", errNoJournal, t.none)
	}
	undo, err := t.journal.Record(s, do)
	if err != nil {
		return err
	}
	return undo()
}

// group makes a group, calls use and removes the group.
func (t *undoing) group(tree *cgroup.Tree, name string, controllers []string, use func(cgroup.Group) error) error {
	path := journal.Prefix + t.run + "/" + name
	plan, err := tree.Plan(path, controllers)
	if err != nil {
		return err
	}
	var tried error // not returned to with: the group is removed all the same
	err = t.with(steps.Group{Plan: plan}, func() error {
		g, err := tree.Make(path, controllers)
		if err != nil {
			tried = err
			return cgroup.Undo(plan)
		}
		tried = use(g)
		return g.Remove()
	})
	return errors.Join(tried, err)
}
