package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/undo/journal"
)

type cleanupCommand struct {
	DryRun bool `short:"n" help:"Only list what would be removed."`
}

func (cleanupCommand) Help() string {
	return `A run that is killed cannot take back what it changed, but before each change it wrote the way back into a journal. This command does what these journals say, and removes data sets that were being prepared. Runs that are still going are left alone, and so is what tare advise --apply set.

Examples:

  tare cleanup -n
  tare cleanup

` + exitCodes("nothing is left", exitError, exitUsage)
}

func (cl cleanupCommand) Run(c *console) error {
	if err := journal.Placed(); err != nil {
		return err
	}
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err != nil {
		return err
	}
	if !cl.DryRun {
		journal.Collect(journal.StateDir())
	}
	var errs []error
	found := 0
	for _, l := range left {
		if l.Live && !l.Killed {
			c.note("run %s is still going (pid %d): left alone", l.Header.Run, l.Header.Pid)
			continue
		}
		if l.Live && cl.DryRun {
			c.note("run %s was killed, and its guard is taking back what it left", l.Header.Run)
			continue
		}
		c.noteHeld(l)
		if len(l.Steps) == 0 && l.Err == nil { // only the journal, or Held steps, are left
			if !cl.DryRun {
				_, err := undo(l.Header.Run)
				errs = append(errs, err)
			}
			continue
		}
		found++
		errs = append(errs, cl.undoRun(c, l))
	}
	parts, err := cl.removeUnfinished(c)
	errs = append(errs, err)
	if found+parts == 0 && err == nil {
		c.say("nothing to clean up")
	}
	return hint.New(errors.Join(errs...), "run tare cleanup again, as the user who ran tare; what is named above can also be removed by hand")
}

// undo undoes the steps of a run. Without a journal there is nothing to do: the guard of the run
// has finished.
func undo(run string) (journal.Report, error) {
	r, err := journal.Undo(journal.StateDir(), run, catalog.Steps())
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	return r, err
}

// removeUnfinished removes the data sets that killed runs were preparing, or lists them with -n,
// and returns how many there are.
func (cl cleanupCommand) removeUnfinished(c *console) (int, error) {
	store, err := dataset.Default()
	if err != nil {
		return 0, nil // without a cache directory there are no data sets
	}
	left, err := store.Abandoned()
	if cl.DryRun {
		for _, e := range left {
			c.say("  would remove the unfinished data set %s, %s", e.Key, quantity.Bytes(float64(e.Bytes)))
		}
		return len(left), err
	}
	if len(left) == 0 {
		return 0, err
	}
	removed, err := store.Prune(func(e dataset.Entry) bool { return e.Unfinished })
	for _, e := range removed {
		c.say("  removed the unfinished data set %s, %s", e.Key, quantity.Bytes(float64(e.Bytes)))
	}
	return len(left), err
}

// undoRun undoes the steps of one run, or lists them with -n.
func (cl cleanupCommand) undoRun(c *console, l journal.Leftover) error {
	c.say("%s", c.paint(c.stdout, bold, leftover(l)))
	if cl.DryRun && l.Foreign {
		return withRemedy(l.Err)
	}
	if cl.DryRun {
		for _, s := range l.Steps {
			c.say("  would undo %s", s)
		}
		return l.Err
	}
	r, err := undo(l.Header.Run)
	for _, s := range r.Undone {
		c.say("  undone %s", s)
	}
	errs := []error{withRemedy(cmp.Or(err, l.Err))} // err says what happens to the journal
	var named []string
	for _, f := range r.Failed {
		if text := f.Step.String(); !slices.Contains(named, text) { // arms share steps
			errs = append(errs, stepError(f))
			named = append(named, text)
		}
	}
	return errors.Join(errs...)
}

// stepError is the error of a step that could not be undone, with its remedy.
func stepError(f journal.Failure) error {
	return fmt.Errorf("%s: %w", f.Step, withRemedy(f.Err))
}

// withRemedy adds the remedy to the text of an error: of several errors only one hint is printed.
func withRemedy(err error) error {
	if h := hint.Of(err); h != "" {
		return fmt.Errorf("%w (%s)", err, h)
	}
	return err
}

// leftover describes a killed run in one line.
func leftover(l journal.Leftover) string {
	return toTakeBack(l.Header.Run, l.Header.Time, len(l.Steps))
}

// toTakeBack is a run's id, its start and the number of steps that are not undone.
func toTakeBack(run string, began time.Time, steps int) string {
	return fmt.Sprintf("run %s of %s: %s to take back", run, began.Local().Format(time.DateTime), quantity.Count(steps, "step"))
}

// noteLeftovers mentions killed runs that left something on this host.
func (c *console) noteLeftovers() {
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err != nil {
		return // tare doctor prints the error
	}
	n := 0
	for _, l := range left {
		if !l.Live && (len(l.Steps) > 0 || l.Err != nil) {
			n++
		}
	}
	if n > 0 {
		c.note("leftovers of %s: tare cleanup removes them", quantity.Count(n, "earlier run"))
	}
}
