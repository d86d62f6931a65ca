package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/record"
)

// Before the first window, with all arms paused, the run tries what each arm keeps of what it
// commits, and compares that with the baseline.

// ErrUnequal means that no arm has the durability of the baseline.
var ErrUnequal = errors.New("nothing to compare")

// compareDurability leaves out or marks the arms whose durability is not the baseline's. It does
// nothing for loads that are not about what they write.
func (l *loadRun) compareDurability(ctx context.Context, line *record.Generation) error {
	if !slices.ContainsFunc(l.instances.arms, func(a *arm) bool { return a.planned.Stages.Disk }) {
		return nil
	}
	found := map[*instance]durability.ArmFacts{}
	for _, s := range slices.Clone(l.instances.all) {
		d, err := l.durability(ctx, s)
		if err != nil {
			if err := l.instanceFailedIfDead(ctx, s, err, line); err != nil {
				return err
			}
			continue
		}
		found[s] = d
		for _, a := range l.instances.armsOn(s) {
			settings := l.run.rec.manifest.Settings
			settings[l.settingsKey(a)] = append(settings[l.settingsKey(a)], d.Facts()...)
		}
	}
	base := l.instances.arm(l.load.Baseline)
	if base == nil {
		return nil
	}
	if err := l.leaveOutUnequal(ctx, found, base.instance, line); err != nil {
		return err
	}
	return l.run.rec.writeManifest()
}

// settingsKey is the key of an arm in Manifest.Settings.
func (l *loadRun) settingsKey(a *arm) string { return l.load.Name + "/" + a.planned.Name }

// leaveOutUnequal compares every instance with that of the baseline.
func (l *loadRun) leaveOutUnequal(ctx context.Context, found map[*instance]durability.ArmFacts, base *instance, line *record.Generation) error {
	others := 0 // arms that can be compared with the baseline, its twin not counted
	var last error
	for _, s := range slices.Clone(l.instances.all) {
		arms := l.instances.armsOn(s)
		isControl := slices.ContainsFunc(arms, func(a *arm) bool { return a.planned.Twin || a.planned.Name == l.load.Baseline })
		differences := durability.Compare(found[base], found[s])
		switch {
		case s == base:
			others += len(arms) - 1
		case len(differences) == 0:
			if !isControl {
				others += len(arms)
			}
		case l.schedule.plan.AllowUnequal:
			others += len(arms)
			for _, a := range arms {
				u := record.Unequal{Workload: l.load.Name, Arm: a.planned.Name, Differences: differences}
				l.run.rec.manifest.Unequal = append(l.run.rec.manifest.Unequal, u)
			}
		default:
			last = otherDurability(found[base].Name, differences)
			if err := l.removeFailed(ctx, s, last, line); err != nil {
				return err
			}
		}
	}
	if others == 0 && last != nil {
		return nothingEqual(last)
	}
	return nil
}

// otherDurability is the error of an arm whose durability is not the baseline's: it may keep more or less, which the values say.
func otherDurability(base string, differences []record.Said) error {
	return hint.New(fmt.Errorf("durability is not that of %s: %s", base, said.English(record.Say("reasons", "reasons", differences))), unequalRemedy)
}

func nothingEqual(last error) error {
	return hint.New(fmt.Errorf("%w: %w", ErrUnequal, last), unequalRemedy)
}

// Unequal is ErrUnequal for a baseline and the differences of the arms.
func Unequal(base string, differences []record.Said) error {
	return nothingEqual(otherDurability(base, differences))
}

// durability tries what an instance keeps of what it syncs. Where that cannot be tried, the options of
// the mount decide.
func (l *loadRun) durability(ctx context.Context, s *instance) (durability.ArmFacts, error) {
	on, err := s.session.Data()
	if err != nil {
		return durability.ArmFacts{}, fmt.Errorf("arm %s: %w", s.name, err)
	}
	d := durability.ArmFacts{Name: s.name, Volatile: on.Volatile}
	for _, a := range l.instances.armsOn(s) {
		d.Promises = Promises(slices.Concat(l.run.rec.manifest.Settings[l.settingsKey(a)], paramSettings(l.load.Params, a.planned.Set)))
	}
	d.Trial, d.Volume, err = s.session.Try(ctx)
	if ctx.Err() != nil {
		return d, ctx.Err()
	}
	if d.Seen = err == nil; err != nil {
		d.Failed = err.Error()
	}
	return d, nil
}

// paramSettings returns the parameters of a load as settings; those of the arm replace those of the
// load.
func paramSettings(ofLoad, ofArm map[string]string) []record.Setting {
	all := map[string]string{}
	maps.Copy(all, ofLoad)
	maps.Copy(all, ofArm)
	return ParamSettings(all)
}

// ParamSettings are parameters of a load as settings.
func ParamSettings(params map[string]string) (out []record.Setting) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		out = append(out, record.Setting{Name: "param." + name, Got: params[name]})
	}
	return out
}
