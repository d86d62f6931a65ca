package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/undo/journal"
)

type cleanupCommand struct {
	DryRun bool `short:"n" help:"Only list what would be removed."`
}

func (cleanupCommand) Help() string {
	return `A run that is killed cannot take back what it changed, but before each change it wrote the way back into a journal. This command does what these journals say, and removes data sets that were being prepared. Runs that are still going are left alone. It reads no configuration file and no variable that sets an option.

Examples:

  tare cleanup -n
  tare cleanup`
}

func (cleanupCommand) exits() []codeMeaning {
	return []codeMeaning{
		{exitOK, "nothing is left"}, {exitError, "something could not be taken back"}, {exitUsage, "wrong usage"},
		{exitInvalid, "a journal is damaged: its readable steps are taken back, and it is kept"}, {exitBusy, "a run is still going"},
	}
}

// cleaned is what cleanup found, and what it could not do.
type cleaned struct {
	found         int
	failed, ruins []error
	live          []int // process ids of runs that are still going
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
	var all cleaned
	for _, l := range left {
		cl.one(c, l, &all)
	}
	parts, err := cl.removeUnfinished(c)
	all.fail(err)
	if all.found+parts+len(all.live) == 0 && err == nil {
		c.say("cleanup.nothing")
	}
	return all.error()
}

// one undoes what a run left.
func (cl cleanupCommand) one(c *console, l journal.Leftover, all *cleaned) {
	switch {
	case l.Live && runsUs(l.Header.Run):
	case l.Live && !l.Killed:
		c.note("cleanup.live", "run", l.Header.Run, "pid", l.Header.Pid)
		all.live = append(all.live, l.Header.Pid)
	case l.Live && cl.DryRun:
		c.note("cleanup.guard", "run", l.Header.Run)
	case len(l.Steps) > 0 || l.Err != nil:
		all.found++
		all.fail(cl.undoRun(c, l)...)
	case !cl.DryRun: // only the journal is left
		_, err := undo(l.Header.Run)
		all.fail(err)
	}
}

// runsUs reports whether a run is tare in a container, which runs a copy of itself on the host: this process.
func runsUs(run string) bool {
	self, err := os.Executable()
	return err == nil && filepath.Dir(self) == filepath.Join(journal.StateDir(), journal.Prefix+run)
}

// fail notes errors.
func (x *cleaned) fail(errs ...error) {
	for _, err := range errs {
		switch {
		case errors.Is(err, journal.ErrDamaged), errors.Is(err, journal.ErrNotOwn):
			x.ruins = append(x.ruins, err)
		case err != nil:
			x.failed = append(x.failed, err)
		}
	}
}

// error is the error of cleanup: what failed comes before damage, and that before runs that are still going.
func (x *cleaned) error() error {
	all := errors.Join(append(x.failed, x.ruins...)...)
	switch {
	case len(x.failed) > 0:
		return hint.New(all, "run tare cleanup again, as the user who ran tare; what is named above can also be removed by hand")
	case len(x.ruins) > 0:
		return &codeError{exitInvalid, hint.New(all, "another cleanup does not end it: do what stands behind each file")}
	case len(x.live) > 0:
		return &codeError{exitBusy, hint.New(errors.New(quantity.Count(len(x.live), "run")+" still going"), endRuns(x.live))}
	}
	return nil
}

// endRuns is the remedy for runs that are still going.
func endRuns(pids []int) string {
	text := "wait for it, or end it: kill"
	for _, pid := range pids {
		text += fmt.Sprintf(" %d", pid)
	}
	return text + "; then tare cleanup"
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
			c.item("cleanup.unfinished", "name", e.Key, "size", quantity.Bytes(float64(e.Bytes)))
		}
		return len(left), err
	}
	if len(left) == 0 {
		return 0, err
	}
	removed, err := store.Prune(func(e dataset.Entry) bool { return e.Unfinished })
	for _, e := range removed {
		c.item("cleanup.removed", "name", e.Key, "size", quantity.Bytes(float64(e.Bytes)))
	}
	return len(left), err
}

// undoRun undoes the steps of one run, or lists them with -n.
func (cl cleanupCommand) undoRun(c *console, l journal.Leftover) []error {
	fmt.Fprintln(c.stdout, c.tint(c.stdout, bold, c.toTakeBack(l.Header.Run, l.Header.Time, len(l.Steps))))
	if cl.DryRun && l.Foreign {
		return []error{withRemedy(l.Err)}
	}
	if cl.DryRun {
		for _, s := range l.Steps {
			c.item("cleanup.undo", "step", s)
		}
		return []error{withRemedy(l.Err)}
	}
	r, err := undo(l.Header.Run)
	for _, s := range r.Undone {
		c.item("cleanup.undone", "step", s)
	}
	errs := []error{withRemedy(cmp.Or(err, l.Err, r.Kept(journal.StateDir(), l.Header.Run)))}
	var named []string
	for _, f := range r.Failed {
		if text := f.Step.String(); !slices.Contains(named, text) { // arms share steps
			errs = append(errs, stepError(f))
			named = append(named, text)
		}
	}
	return errs
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

// item prints a message to standard output, indented below a heading.
func (c *console) item(key messages.Key, pairs ...any) {
	fmt.Fprintln(c.stdout, "  "+c.text(key, pairs...))
}

// toTakeBack is a run's id, its start and the number of steps that are not undone.
func (c *console) toTakeBack(run string, began time.Time, steps int) string {
	if began.IsZero() { // a journal without a header
		return c.text("cleanup.run.bare", "run", run, "n", steps)
	}
	return c.text("cleanup.run", "run", run, "time", began.Local().Format(time.DateTime), "n", steps)
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
		c.note("cleanup.left", "n", n)
	}
}
