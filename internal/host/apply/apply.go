// Package apply sets the settings of a proved remedy on something that runs and is not tare's: a systemd unit, a
// control group, a container, a pod. It asks the owner (systemd, the engine, the API server, or the kernel's
// file), writes the way back into the journal first, and reads the setting back. The setting stays until Release. Only
// settings that the owner can show and take back are set. A new kind of target is one file and a line in open.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// thing is a target as its owner shows it.
type thing interface {
	// change says what a setting changes. An error is the reason why it cannot be set or taken back.
	change(ctx context.Context, s record.RemedySetting) (Step, error)
	// read is the value of a step's setting now, in the owner's words; errGone without the target.
	read(ctx context.Context, s Step) (string, error)
	// write sets a value in the owner's words.
	write(ctx context.Context, s Step, value string) error
	// restore writes Step.Back and removes what write left with the owner.
	restore(ctx context.Context, s Step) error
	// group is the target's control group on this host, or an error without one.
	group(ctx context.Context) (cgroup.Group, error)
}

// errGone means that the target of a step is not there any longer, or another one has its name.
var errGone = errors.New("the target is gone")

// missing is errGone for a target that the user named.
type missing struct{ error }

// Is makes it errGone.
func (missing) Is(target error) bool { return target == errGone }

// noTarget is missing with a remedy.
func noTarget(remedy, format string, args ...any) error {
	return hint.New(missing{fmt.Errorf(format, args...)}, remedy)
}

// callBound is how long owners may take for one step.
const callBound = time.Minute

// Planned are the settings for one target, which nothing has changed yet.
type Planned struct {
	Target Target
	Steps  []Step
	it     thing
	made   journal.UndoStack
}

// Plan finds a target and says what the settings of a remedy change there. It only reads. A target that has a
// setting of the journals left is an error.
func Plan(ctx context.Context, t Target, cluster kube.Access, settings []record.RemedySetting, left []journal.Leftover) (*Planned, error) {
	it, t, err := find(ctx, t, cluster)
	if err != nil {
		return nil, err
	}
	if err := conflict(left, func(s Step) bool { return s.Target == t.String() }); err != nil {
		return nil, err
	}
	p := &Planned{Target: t, it: it}
	for _, s := range settings {
		step, err := it.change(ctx, s)
		if err != nil {
			return nil, hint.New(fmt.Errorf("%s of %s: %w", s.Key, t, err), orByHand(hint.Of(err)))
		}
		step.Target, step.Setting, step.Wanted = t.String(), string(s.Key), s.Value
		if g, err := it.group(ctx); err == nil {
			step.Kernel, _ = inKernel(g, s.Key)
		}
		if step.From != step.To {
			p.Steps = append(p.Steps, step)
		}
	}
	if len(p.Steps) == 0 {
		return nil, hint.New(errors.New(hasThem(t)), nothingToDo)
	}
	return p, conflict(left, func(s Step) bool { return s.Same == p.Steps[0].Same }) // by another name
}

// Unchanged returns an error if the target, or a value that Plan read, is another one now.
func (p *Planned) Unchanged(ctx context.Context) error {
	for _, s := range p.Steps {
		if err := p.unchanged(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *Planned) unchanged(ctx context.Context, s Step) error {
	now, err := p.it.read(ctx, s)
	switch {
	case errors.Is(err, errGone):
		return hint.New(fmt.Errorf("%s: %w", p.Target, err), planAgain)
	case err == nil && now != s.From:
		return hint.New(errors.New(changing(s, now)), planAgain)
	}
	return err
}

// Make sets all settings. Each is in the journal before it is set, and read back from the owner and the kernel
// afterwards. After an error none is left.
func (p *Planned) Make(ctx context.Context, j *journal.Journal) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Unmake())
		}
	}()
	for _, s := range p.Steps {
		s.ID = journal.Prefix + j.Run()
		if err := p.unchanged(ctx, s); err != nil { // since the person confirmed it
			return err
		}
		if err := p.made.Record(j, s, func() error { return s.release(context.WithoutCancel(ctx), p.it) }); err != nil {
			return err
		}
		if err := p.it.write(ctx, s, s.To); err != nil {
			return fmt.Errorf("set %s of %s: %w", s.Name, p.Target, err)
		}
		if err := p.check(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Unmake takes back what Make set, and notes it in the journal.
func (p *Planned) Unmake() error { return p.made.Undo() }

// check reads a setting back.
func (p *Planned) check(ctx context.Context, s Step) error {
	now, err := p.it.read(ctx, s)
	if err != nil {
		return fmt.Errorf("read %s of %s back: %w", s.Name, p.Target, err)
	}
	if now != s.To {
		return hint.New(errors.New(notTaken(s, "its owner shows "+shown(now))), notRecorded)
	}
	g, err := p.it.group(ctx)
	if err != nil {
		return nil // the pod is on another node: its status was read
	}
	key := record.SettingKey(s.Setting)
	got, ok := inKernel(g, key)
	if _, file := fileNames()[key]; file && !ok {
		return hint.New(errors.New(notTaken(s, noFile)), notInKernel)
	}
	if ok && !agrees(g, s, got) {
		return hint.New(errors.New(notTaken(s, "the kernel has "+shown(got))), notInKernel)
	}
	return nil
}

// conflict returns an error if one of the journals' settings is on the target.
func conflict(left []journal.Leftover, same func(Step) bool) error {
	for _, l := range left {
		for _, h := range l.Held {
			if s, ok := h.(Step); ok && same(s) {
				return hint.New(fmt.Errorf("tare has set %s already", s), "tare advise --undo "+l.Header.Run)
			}
		}
	}
	return nil
}

// find opens a target. container: is resolved to the engine that knows the name.
func find(ctx context.Context, t Target, cluster kube.Access) (thing, Target, error) {
	switch t.Kind {
	case kindUnit:
		u, err := openUnit(ctx, t.Name)
		return u, Target{kindUnit, u.name}, err
	case kindGroup:
		g, err := openGroup(t.Name)
		return g, Target{kindGroup, g.path}, err
	case kindPod:
		p, err := openPod(ctx, t.Name, cluster)
		return p, Target{kindPod, p.word()}, err
	}
	c, err := findContainer(ctx, t)
	if err != nil {
		return nil, t, err
	}
	return c, Target{c.engine.Name(), t.Name}, nil
}

// again opens the target of a step.
func again(ctx context.Context, s Step) (thing, error) {
	t, err := Parse(s.Target)
	if err != nil {
		return nil, err
	}
	if slices.Contains([]string{kindDocker, kindPodman}, t.Kind) {
		return openContainer(t, s.Owner)
	}
	it, _, err := find(ctx, t, kube.Access{Kubeconfig: s.Owner, Context: s.Context})
	return it, err
}
