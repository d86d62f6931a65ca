package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/record"
)

// The durability guard: before the first window, with all arms paused, what each
// keeps of what it commits is tried and compared with the baseline.

// ErrUnequal means that no arm is left that keeps what the baseline keeps.
var ErrUnequal = errors.New("nothing to compare")

const unequalRemedy = "make them equal, or compare them all the same with --set unequal=mark, which marks every result of theirs"

// equal refuses or marks the arms that are unequal. Only loads that are about
// the disk are looked at.
func (l *loadRun) equal(ctx context.Context, line *record.Generation) error {
	if !l.disk() {
		return nil
	}
	seen := map[*site]durability.Arm{}
	for _, s := range slices.Clone(l.sites) {
		a, err := l.durability(ctx, s)
		if err != nil {
			if err := l.leaveDead(ctx, s, err, line); err != nil {
				return err
			}
			continue
		}
		seen[s] = a
		for _, on := range l.armsOn(s) {
			key := l.load.Name + "/" + on.Name
			l.Manifest.Settings[key] = append(l.Manifest.Settings[key], a.Facts()...)
		}
	}
	base := l.armCalled(l.load.Baseline)
	if base == nil {
		return nil
	}
	if err := l.compare(ctx, seen, base.site, line); err != nil {
		return err
	}
	return l.writeManifest()
}

// disk says whether any arm's load is about what it writes.
func (l *loadRun) disk() bool {
	return slices.ContainsFunc(l.arms, func(a *arm) bool { return l.planned(a.Name).Stages.Disk })
}

func (l *loadRun) armCalled(name string) *arm {
	for _, a := range l.arms {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// compare compares every site with that of the baseline.
func (l *loadRun) compare(ctx context.Context, seen map[*site]durability.Arm, base *site, line *record.Generation) error {
	others := 0
	var last error
	for _, s := range slices.Clone(l.sites) {
		arms := l.armsOn(s)
		real := !slices.ContainsFunc(arms, func(a *arm) bool { return a.Twin || a.Name == l.load.Baseline })
		d := durability.Compare(seen[base], seen[s])
		switch {
		case s == base:
			others += len(arms) - 1
		case len(d) == 0:
			if real {
				others += len(arms)
			}
		case l.Plan.AllowUnequal:
			others += len(arms)
			for _, a := range arms {
				l.Manifest.Unequal = append(l.Manifest.Unequal, record.Unequal{Workload: l.load.Name, Arm: a.Name, Differences: d})
			}
		default:
			last = hint.New(fmt.Errorf("not as durable as %s: %s", seen[base].Name, strings.Join(d, "; ")), unequalRemedy)
			errs := []error{l.drop(s)}
			for _, a := range arms {
				errs = append(errs, l.armFailed(ctx, l.planned(a.Name), last, line))
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
		}
	}
	if others == 0 && last != nil {
		return hint.New(fmt.Errorf("%w: %w", ErrUnequal, last), unequalRemedy)
	}
	return nil
}

// durability tries out what a site keeps. What cannot be tried is judged by what
// the mount says.
func (l *loadRun) durability(ctx context.Context, s *site) (durability.Arm, error) {
	on, err := s.session.Data()
	if err != nil {
		return durability.Arm{}, fmt.Errorf("arm %s: %w", s.name, err)
	}
	a := durability.Arm{Name: s.name, Volatile: on.Volatile}
	for _, arm := range l.armsOn(s) {
		a.Promises = promises(slices.Concat(l.Manifest.Settings[l.load.Name+"/"+arm.Name], set(l.load.Params, arm.Set)))
	}
	a.Trial, a.Volume, err = s.session.Try(ctx)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if a.Seen = err == nil; err != nil {
		a.Failed = err.Error()
	}
	return a, nil
}

// set is the parameters of a load as an arm has them, as settings.
func set(params, own map[string]string) (out []record.Setting) {
	all := maps.Clone(params)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, own)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, record.Setting{Name: "param." + name, Got: all[name]})
	}
	return out
}
