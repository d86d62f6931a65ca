package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/apply"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/record"
)

// watchTime is how long the counters of a target are watched before and after a change.
const watchTime = 5 * time.Second

// applier applies a proved remedy to targets that the user named.
type applier struct {
	*adviseCommand
	*console
	loss    *record.AdviceLoss
	targets []appliedTarget
	after   time.Duration // the deadline; 0: none
}

// appliedTarget is a target with its role and settings.
type appliedTarget struct {
	*apply.Planned
	on     record.SettingOn
	before []apply.Counter
}

// applyRemedy sets the proved remedy of an advice on running targets.
func (a *adviseCommand) applyRemedy(c *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	v := &applier{adviseCommand: a, console: c}
	err := v.prepare(ctx)
	if err == nil {
		err = v.confirm()
	}
	if err == nil {
		err = v.watchBefore(ctx)
	}
	if err == nil {
		err = v.makeAll(ctx)
	}
	if ctx.Err() != nil && err != nil {
		return &signalError{syscall.SIGINT, errors.New(nothingApplied)}
	}
	return err
}

// prepare finds the remedy and its targets, and prints what changes. It only reads.
func (v *applier) prepare(ctx context.Context) error {
	if err := journal.Placed(); err != nil {
		return err
	}
	advice, err := v.trustedAdvice()
	if err != nil {
		return err
	}
	if v.loss, err = v.proved(&advice); err != nil {
		return err
	}
	if v.UndoAfter != "" {
		if v.after, err = experiment.ParseDuration(v.UndoAfter); err != nil || v.after < apply.LeastTime {
			return &usageError{hint.New(fmt.Errorf("--undo-after %s: want at least %s", v.UndoAfter, apply.LeastTime), "--undo-after 2h"), ""}
		}
		if err := apply.CanTime(ctx); err != nil {
			return err
		}
	}
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err == nil {
		err = v.plan(ctx, left)
	}
	if err == nil {
		v.describe()
	}
	return err
}

// trustedAdvice reads the advice in the directory that the user named. Root applies none that another user could
// have written.
func (v *applier) trustedAdvice() (record.Advice, error) {
	dir := v.directory()
	if dir == "" {
		return record.Advice{}, &usageError{errors.New(applyNeedsAdvice), "tare advise DIR --apply TARGET"}
	}
	path := filepath.Join(dir, record.AdviceFile)
	f, err := trust.OpenGiven(path)
	if errors.Is(err, os.ErrNotExist) {
		return record.Advice{}, &usageError{fmt.Errorf("%s is no advice", dir), "tare advise " + dir + " -o DIR makes one"}
	}
	if err != nil {
		return record.Advice{}, err
	}
	defer f.Close()
	if err := trust.File(f); err != nil {
		return record.Advice{}, hint.New(err, "copy it to a directory of yours, and read it before it is applied")
	}
	advice, err := record.ReadAdvice(dir)
	return advice, readable(err)
}

// proved is the loss whose remedy is proved; several need --workload.
func (v *applier) proved(advice *record.Advice) (*record.AdviceLoss, error) {
	var all []*record.AdviceLoss
	var names []string
	for i := range advice.Losses {
		l := &advice.Losses[i]
		named := len(v.Workload) == 0 || slices.Contains(v.Workload, l.Workload)
		if named && l.Standing == record.StandingProved && l.Remedy != nil {
			all, names = append(all, l), append(names, l.Workload)
		}
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return nil, hint.New(errors.New(noProof), "tare advise "+v.directory()+" says what is undecided; a longer --budget may prove it")
	}
	return nil, &usageError{fmt.Errorf("remedies of several loads are proved: %s", strings.Join(names, ", ")), "--workload " + names[0]}
}

// plan finds the targets and what changes there. Every setting of the remedy needs a target: the proof holds for
// all of them together.
func (v *applier) plan(ctx context.Context, left []journal.Leftover) error {
	settings := v.loss.Candidates[*v.loss.Remedy].Apply
	sides := map[record.SettingOn][]record.RemedySetting{}
	for _, s := range settings {
		sides[s.On] = append(sides[s.On], s)
	}
	named, err := v.named(sides)
	if err != nil {
		return err
	}
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
		if len(sides[on]) == 0 {
			continue
		}
		t, ok := named[on]
		if !ok {
			return &usageError{errors.New(noTargetFor(on, sides[on])), targetsFor(sides)}
		}
		planned, err := apply.Plan(ctx, t, v.cluster().Access, sides[on], left)
		if err != nil {
			return err
		}
		v.targets = append(v.targets, appliedTarget{Planned: planned, on: on})
	}
	return nil
}

// named are the targets of --apply by their role. Without a role it is that of the remedy's only settings.
func (v *applier) named(sides map[record.SettingOn][]record.RemedySetting) (map[record.SettingOn]apply.Target, error) {
	out := map[record.SettingOn]apply.Target{}
	for _, word := range v.Apply {
		role, target, ok := strings.Cut(word, "=")
		on := record.SettingOn(role)
		if !ok || on != record.OnLoad && on != record.OnNeighbour {
			target, on = word, ""
			for side := range sides {
				on = side
			}
			if len(sides) != 1 {
				return nil, &usageError{errors.New(bothSides(v.loss.Candidates[*v.loss.Remedy])), targetsFor(sides)}
			}
		}
		t, err := apply.Parse(target)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--apply: %w", err), ""}
		}
		if _, twice := out[on]; twice {
			return nil, &usageError{fmt.Errorf("--apply names two targets of the %s", on), "one --apply for each role"}
		}
		if len(sides[on]) == 0 {
			return nil, &usageError{fmt.Errorf("the remedy has no setting for the %s", on), targetsFor(sides)}
		}
		out[on] = t
	}
	return out, nil
}

// confirm asks a person, unless --yes.
func (v *applier) confirm() error {
	if v.Yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) || !v.terminal(v.stderr) {
		return &usageError{errors.New(nobodyConfirms), "--yes"}
	}
	fmt.Fprint(v.stderr, applyQuestion)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(answer)); err != nil || word != "y" && word != "yes" {
		return errors.New(nothingApplied)
	}
	return nil
}

func (v *applier) watchBefore(ctx context.Context) (err error) {
	for i := range v.targets {
		if v.targets[i].before, err = v.targets[i].Watch(ctx, watchTime); err != nil {
			return err
		}
	}
	for _, t := range v.targets {
		if err := t.Unchanged(ctx); err != nil {
			return err
		}
	}
	return nil
}

// makeAll writes the journal, sets the timer, makes the changes, and prints the counters. From here on a signal
// ends only the watching.
func (v *applier) makeAll(ctx context.Context) error {
	run := "a" + strings.ToLower(rand.Text()[:9])
	j, err := journal.Open(journal.StateDir(), run)
	if err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	if err := v.change(whole, j); err != nil {
		apply.StopTimer(whole, run)
		return errors.Join(err, j.Close())
	}
	if err := j.Close(); err != nil {
		return err
	}
	v.say("%s", applied(run, v.UndoAfter))
	for _, t := range v.targets {
		after, err := t.Watch(ctx, watchTime)
		if err != nil {
			v.note("%s", notWatched)
			return nil
		}
		v.counters(t, after)
	}
	return nil
}

// change makes the changes of all targets. After an error none is left.
func (v *applier) change(ctx context.Context, j *journal.Journal) error {
	until := ""
	if v.after > 0 {
		at := time.Now().Add(v.after).UTC()
		until = at.Format(time.RFC3339)
		if err := apply.SetTimer(ctx, j.Run(), at); err != nil {
			return err
		}
	}
	var made []*apply.Planned
	for _, t := range v.targets {
		for i := range t.Steps {
			t.Steps[i].Until = until
		}
		if err := t.Make(ctx, j); err != nil {
			for _, m := range slices.Backward(made) {
				err = errors.Join(err, m.Unmake())
			}
			return err
		}
		made = append(made, t.Planned)
	}
	return nil
}
