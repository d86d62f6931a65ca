package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/apply"
	"github.com/tarelab/tare/internal/undo/journal"
)

// undoBound is how long owners may take to say what became of a setting.
const undoBound = time.Minute

// undoApplied takes back what --apply set: of the target or entry that the user named, or all.
func (a *adviseCommand) undoApplied(c *console) error {
	if err := journal.Placed(); err != nil {
		return err
	}
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err != nil {
		return err
	}
	var errs []error
	found := 0
	for _, l := range left {
		if !holds(l, a.Experiment) {
			continue
		}
		found++
		errs = append(errs, a.undoEntry(c, l))
	}
	switch {
	case found == 0 && a.Experiment != "":
		return &usageError{fmt.Errorf("nothing is applied to %s", a.Experiment), "tare doctor lists what tare has set"}
	case found == 0:
		c.say("%s", nothingHeld)
	}
	return errors.Join(errs...)
}

// holds says whether a journal has settings of a target or, by its id, is the one that the user named.
func holds(l journal.Leftover, word string) bool {
	for _, h := range l.Held {
		if s, ok := h.(apply.Step); ok && (word == "" || word == l.Header.Run || s.On(word)) {
			return true
		}
	}
	return false
}

func (a *adviseCommand) undoEntry(c *console, l journal.Leftover) error {
	run := l.Header.Run
	if l.Live && !l.Killed {
		return hint.New(fmt.Errorf("%s is being applied (pid %d)", run, l.Header.Pid), "wait for it, or end it, and run the command again")
	}
	if l.Foreign {
		return l.Err
	}
	states := statesOf(l)
	how := journal.Release
	if a.Forget {
		how = journal.Forget
	}
	r, err := how(journal.StateDir(), run, catalog.Steps())
	errs := []error{err}
	for _, s := range r.Undone {
		if step, ok := s.(apply.Step); ok {
			c.say("%s: %s", step, takenBack(states[step], a.Forget))
		}
	}
	for _, f := range r.Failed {
		errs = append(errs, hint.New(f.Err, hint.Of(f.Err)))
	}
	if len(r.Failed) == 0 && err == nil {
		apply.StopTimer(context.Background(), run)
	}
	return errors.Join(errs...)
}

// statesOf asks the owners what became of the settings of a journal.
func statesOf(l journal.Leftover) map[apply.Step]apply.State {
	ctx, cancel := context.WithTimeout(context.Background(), undoBound)
	defer cancel()
	out := map[apply.Step]apply.State{}
	for _, h := range l.Held {
		if s, ok := h.(apply.Step); ok {
			out[s], _, _ = s.State(ctx, l.Header.Restarted())
		}
	}
	return out
}

// noteHeld lists the settings that tare cleanup leaves.
func (c *console) noteHeld(l journal.Leftover) {
	for _, h := range l.Held {
		c.say("  %s", heldLine(l.Header.Run, h))
	}
}

// appliedAnswer is one setting of --apply in tare doctor.
type appliedAnswer struct {
	ID      string `json:"id"`
	Target  string `json:"target"`
	Setting string `json:"setting"`
	State   string `json:"state"` // in force, not in force, changed, gone, ended or unknown
	Now     string `json:"now,omitempty"`
	Until   string `json:"until,omitempty"`
	Overdue bool   `json:"overdue,omitempty"`
	Reason  string `json:"reason,omitempty"` // of unknown
}

// applied asks the owners what became of every setting of --apply.
func (a *doctorAnswer) applied(left []journal.Leftover) {
	ctx, cancel := context.WithTimeout(context.Background(), undoBound)
	defer cancel()
	for _, l := range left {
		for _, h := range l.Held {
			s, ok := h.(apply.Step)
			if !ok || l.Live && !l.Killed {
				continue
			}
			x := appliedAnswer{ID: l.Header.Run, Target: s.Target, Setting: s.String(), Until: s.Until, Overdue: s.Overdue(time.Now())}
			state, now, err := s.State(ctx, l.Header.Restarted())
			if x.State = string(state); err != nil {
				x.State, x.Reason = "unknown", err.Error()
			}
			if state == apply.Changed {
				x.Now = now
			}
			a.Applied = append(a.Applied, x)
		}
	}
}

func (p *sheet) applied(a *doctorAnswer) {
	if len(a.Applied) == 0 {
		return
	}
	p.heading("%s", appliedHeading)
	for _, x := range a.Applied {
		p.entry("  ", 2, appliedLine(x))
		p.entry("    → ", 6, "tare advise --undo "+x.ID)
	}
}
