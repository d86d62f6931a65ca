package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// mostFailures is how often an arm may fail, at launches and in the middle of them, until it
// is given up.
const mostFailures = 3

// tryingShare is the part of the remaining time after which the first launch begins no
// other try.
const tryingShare = 0.1

// hopeless is an error that another try would meet again.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

// armFailed leaves an arm out of this launch. The first launch reads arms back, compares
// what they keep, and shows them to the pilot: an arm that fails there is tried again, and
// one that is not up in the end is given up, as is one that fails three times. Without its
// baseline or twin a workload cannot go on.
func (l *loadRun) armFailed(ctx context.Context, a plan.PlannedArm, err error, line *record.Generation) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if a.Name == l.load.Baseline || a.Twin {
		return fmt.Errorf("arm %s: %w", a.Name, err)
	}
	skipped := record.Left{Workload: l.load.Name, Arm: a.Name, Reason: err.Error(), Remedy: hint.Of(err)}
	line.Left = append(withoutArm(line.Left, a.Name), skipped)
	l.failures[a.Name]++
	again := l.known || l.trying && !errors.As(err, new(hopeless)) && !errors.Is(err, facts.ErrUnsupported)
	if !again || l.failures[a.Name] >= mostFailures {
		l.giveUp(skipped)
	}
	return nil
}

func (l *loadRun) giveUp(skipped record.Left) {
	l.gaveUp[skipped.Arm] = true
	l.skip(skipped)
}

// withoutArm is the list without one arm.
func withoutArm(all []record.Left, arm string) []record.Left {
	return slices.DeleteFunc(all, func(l record.Left) bool { return l.Arm == arm })
}

// again tries to launch what failed in the first launch, beside the arms that are up and
// paused.
func (l *loadRun) again(ctx context.Context, generation int, line *record.Generation, began time.Time) error {
	for {
		missing := l.missing()
		if len(missing) == 0 {
			break
		}
		if float64(time.Since(began)) > tryingShare*float64(l.remaining()) {
			break
		}
		if err := l.tryAgain(ctx, missing, generation, line); err != nil {
			return err
		}
	}
	l.trying = false
	for _, left := range slices.Clone(line.Left) {
		switch {
		case l.armCalled(left.Arm) != nil:
			line.Left = withoutArm(line.Left, left.Arm)
			l.warn(record.Warning{Workload: l.load.Name, Arm: left.Arm, Text: "was launched at another try; before: " + left.Reason, Remedy: left.Remedy})
		case !l.gaveUp[left.Arm]:
			l.giveUp(left)
		}
	}
	return nil
}

// missing are the sites that are wanted, with those of their arms that are not up.
func (l *loadRun) missing() []plan.Site {
	var out []plan.Site
	for _, s := range l.wanted() {
		s.Arms = slices.DeleteFunc(slices.Clone(s.Arms), func(a plan.PlannedArm) bool { return l.armCalled(a.Name) != nil })
		if len(s.Arms) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// tryAgain launches sites once more. Of a site that is up only the neighbour is missing.
func (l *loadRun) tryAgain(ctx context.Context, missing []plan.Site, generation int, line *record.Generation) error {
	var whole []plan.Site
	for _, s := range missing {
		up := l.siteOf(s)
		if up == nil {
			whole = append(whole, s)
		} else if err := l.neighbourAgain(ctx, up, s, generation, line); err != nil {
			return err
		}
	}
	before := len(l.sites)
	if err := l.startAll(ctx, whole, generation, line); err != nil {
		return err
	}
	return l.awaitReady(ctx, slices.Clone(l.sites[before:]), line)
}

// siteOf is the site that is up; nil: it is not.
func (l *loadRun) siteOf(s plan.Site) *site {
	on := plan.Sites(l.load.Arms)
	for _, all := range on {
		if !slices.ContainsFunc(all.Arms, func(a plan.PlannedArm) bool { return a.Name == s.Arms[0].Name }) {
			continue
		}
		for _, a := range l.arms {
			if slices.ContainsFunc(all.Arms, func(p plan.PlannedArm) bool { return p.Name == a.Name }) {
				return a.site
			}
		}
	}
	return nil
}

// neighbourAgain starts the neighbour of a site that is up without it. Nothing is measured
// yet, so that the one that failed can be closed before.
func (l *loadRun) neighbourAgain(ctx context.Context, up *site, s plan.Site, generation int, line *record.Generation) error {
	if up.gone != nil {
		if err := up.gone.close(); err != nil {
			return err
		}
		up.gone = nil
	}
	up.neighbourErr = nil
	err := l.startNeighbour(ctx, up, s, fmt.Sprintf("%s-%s-%d", l.load.Name, up.name, generation))
	if err != nil && up.neighbour != nil {
		err = errors.Join(err, up.endNeighbour())
	}
	if err == nil {
		err = up.neighbourErr
	}
	for _, a := range s.Arms {
		if err == nil {
			l.arms = append(l.arms, &arm{Arm: a.Arm, site: up, isolation: a.Isolation})
		} else if err := l.armFailed(ctx, a, err, line); err != nil {
			return err
		}
	}
	l.sortArms()
	return nil
}
