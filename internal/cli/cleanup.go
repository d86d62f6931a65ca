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
	return `A run that is killed cannot take back what it changed, but before each change it wrote the way back into a journal. This command does what these journals say, and removes data sets that were being prepared. Runs that are still going are left alone.

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
		if len(l.Steps) == 0 && l.Err == nil { // killed, and nothing but the journal is left
			if !cl.DryRun {
				_, err := undo(l.Header.Run)
				errs = append(errs, err)
			}
			continue
		}
		found++
		errs = append(errs, cl.one(c, l))
	}
	parts, err := cl.unfinished(c)
	errs = append(errs, err)
	if found+parts == 0 && err == nil {
		c.say("nothing to clean up")
	}
	return hint.New(errors.Join(errs...), "run tare cleanup again, as the user who ran tare; what is named above can also be removed by hand")
}

// undo takes back what a run left; the guard of the run may have done it meanwhile.
func undo(run string) (journal.Report, error) {
	r, err := journal.Undo(journal.StateDir(), run, catalog.Steps())
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	return r, err
}

// unfinished removes the data sets that killed runs were preparing, and says how many.
func (cl cleanupCommand) unfinished(c *console) (int, error) {
	store, err := dataset.Default()
	if err != nil {
		return 0, nil // no place for data sets, and none there
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
	gone, err := store.Prune(func(e dataset.Entry) bool { return e.Unfinished })
	for _, e := range gone {
		c.say("  removed the unfinished data set %s, %s", e.Key, quantity.Bytes(float64(e.Bytes)))
	}
	return len(left), err
}

// one takes back what one run left.
func (cl cleanupCommand) one(c *console, l journal.Leftover) error {
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
	errs := []error{withRemedy(cmp.Or(err, l.Err))} // the first says what becomes of the journal
	var said []string
	for _, f := range r.Failed {
		if text := f.Step.String(); !slices.Contains(said, text) { // arms share some
			errs = append(errs, failure(f))
			said = append(said, text)
		}
	}
	return errors.Join(errs...)
}

// failure is a step that could not be taken back, with what helps.
func failure(f journal.Failure) error {
	return fmt.Errorf("%s: %w", f.Step, withRemedy(f.Err))
}

// withRemedy says what helps with this one of several errors.
func withRemedy(err error) error {
	if h := hint.Of(err); h != "" {
		return fmt.Errorf("%w (%s)", err, h)
	}
	return err
}

// leftover is a run that was killed, in one line.
func leftover(l journal.Leftover) string {
	return toTakeBack(l.Header.Run, l.Header.Time, len(l.Steps))
}

// toTakeBack says how much a killed run left.
func toTakeBack(run string, began time.Time, steps int) string {
	return fmt.Sprintf("run %s of %s: %s to take back", run, began.Local().Format(time.DateTime), quantity.Count(steps, "step"))
}

// noteLeftovers tells of runs that were killed, without touching anything.
func (c *console) noteLeftovers() {
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err != nil {
		return // doctor says why
	}
	n := 0
	for _, l := range left {
		if !l.Live && (len(l.Steps) > 0 || l.Err != nil) {
			n++
		}
	}
	if n > 0 {
		c.note("%s left something on this host; tare cleanup removes it", quantity.Count(n, "earlier run"))
	}
}
