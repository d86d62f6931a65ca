package inspect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// errNoJournal is why something was not tried; the error that it is joined with has the
// remedy.
var errNoJournal = errors.New("not tried, for there is no way back")

// trail is the way back from the trials: they make a group and a directory for
// a moment, and may be killed in it.
type trail struct {
	run     string
	journal *journal.Journal // nil where none can be had
	none    error            // why not
	missing []string         // directories that were not there before, innermost first
}

// newTrail opens a journal of the trials' own. Where none can be written, or others
// could, what changes the host is not tried, and that is why it is not there: a run ends
// in such a place, but looking at a host must not.
func newTrail() *trail {
	t := &trail{run: fmt.Sprintf("inspect%dx%s", os.Getpid(), strings.ToLower(rand.Text()[:8]))}
	for dir := filepath.Join(journal.StateDir(), "journal"); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		t.missing = append(t.missing, dir)
	}
	t.journal, t.none = journal.Open(journal.StateDir(), t.run)
	return t
}

// close leaves no directory either that was not there: tare plan changes nothing.
func (t *trail) close() error {
	if t.none != nil {
		return nil
	}
	err := t.journal.Close()
	for _, dir := range t.missing {
		if os.Remove(dir) != nil { // something is in it
			break
		}
	}
	return err
}

// with notes the step, does what it undoes, and notes that it was undone
// unless do failed to.
func (t *trail) with(s journal.Step, do func() error) error {
	if t.none != nil {
		return fmt.Errorf("%w: %w", errNoJournal, t.none)
	}
	undo, err := t.journal.Record(s, do)
	if err != nil {
		return err
	}
	return undo()
}

// group makes a group for as long as use takes.
func (t *trail) group(tree *cgroup.Tree, name string, controllers []string, use func(cgroup.Group) error) error {
	path := journal.Prefix + t.run + "/" + name
	plan, err := tree.Plan(path, controllers)
	if err != nil {
		return err
	}
	var tried error // no fault of the group's: it is gone
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
