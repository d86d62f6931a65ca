// Package enforce writes the settings that internal/host/isolation describes, reads them back
// from the kernel and takes them back. It changes only groups that tare made and the threads in
// them. It does not know what the settings are for.
package enforce

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// Sides are the groups whose settings are changed. All must be frozen while Set works, so that
// no new thread is missed.
type Sides struct {
	Neighbour cgroup.Group
	// Arm are the groups of the arm. Settings of files are written in the first, its own group.
	Arm []cgroup.Group
}

// Enforced are settings in force. It is not safe for concurrent use.
type Enforced struct {
	steps []step
}

// step is one setting in force.
type step struct {
	// check reads the setting back; a value other than the wanted one is an error.
	check func() (record.Setting, error)
	undo  func() error
}

// Set writes all settings and reads each back. After an error no setting is left in force.
func Set(at Sides, all []isolation.Settings) (_ *Enforced, err error) {
	e := &Enforced{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Undo())
		}
	}()
	for _, s := range all {
		for _, f := range s.Files {
			if err := e.file(at, f); err != nil {
				return nil, err
			}
		}
		for _, t := range s.Threads {
			if err := e.threads(at, t); err != nil {
				return nil, err
			}
		}
	}
	_, err = e.Check()
	return e, err
}

// Check reads every setting back. It returns all values, and an error if one is no longer as it
// was set.
func (e *Enforced) Check() ([]record.Setting, error) {
	var all []record.Setting
	var errs []error
	for _, s := range e.steps {
		got, err := s.check()
		all, errs = append(all, got), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Undo takes every setting back, the last first, and goes on after errors. It may be called
// twice.
func (e *Enforced) Undo() error {
	var errs []error
	for i := len(e.steps) - 1; i >= 0; i-- {
		errs = append(errs, e.steps[i].undo())
	}
	e.steps = nil
	return errors.Join(errs...)
}

func (at Sides) group(of isolation.Side) (cgroup.Group, error) {
	g := at.Neighbour
	if of == isolation.Arm {
		g = cgroup.Group{}
		if len(at.Arm) > 0 {
			g = at.Arm[0]
		}
	}
	if g.Tree == nil {
		return g, fmt.Errorf("the %s has no control group", of)
	}
	return g, nil
}

func (at Sides) groups(of isolation.Side) []cgroup.Group {
	if of == isolation.Neighbour {
		return []cgroup.Group{at.Neighbour}
	}
	return at.Arm
}

// file writes a control file, for a competing value first that of the group that is compared.
func (e *Enforced) file(at Sides, f isolation.File) (err error) {
	g, err := at.group(f.Of)
	if err != nil {
		return fmt.Errorf("set %s: %w", f.Name, err)
	}
	groups := []cgroup.Group{g}
	if above := g.Competing(); f.Competing && above.Path != g.Path {
		groups = []cgroup.Group{above, g}
	}
	var undo []func() error
	s := step{
		check: func() (got record.Setting, err error) {
			for _, g := range groups { // the last one is the group itself
				if got, err = readFile(g, f); err != nil {
					return got, err
				}
			}
			return got, nil
		},
		undo: func() error {
			var errs []error
			for _, back := range slices.Backward(undo) {
				errs = append(errs, back())
			}
			return errors.Join(errs...)
		},
	}
	for _, g := range groups {
		back, err := write(g, f)
		if err != nil {
			return errors.Join(err, s.undo())
		}
		undo = append(undo, back)
	}
	e.steps = append(e.steps, s)
	return nil
}

// write writes a control file of one group; back writes what it was before.
func write(g cgroup.Group, f isolation.File) (back func() error, err error) {
	before, err := g.Read(f.Controller, f.Name)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", f.Name, err)
	}
	if f.Undo != "" {
		before = f.Undo
	}
	if before == "" {
		before = inForce(g, f)
	}
	if err := g.Write(f.Controller, f.Name, f.Write); err != nil {
		return nil, fmt.Errorf("set %s of the %s to %q: %w", f.Name, f.Of, f.Write, err)
	}
	return func() error {
		if err := g.Write(f.Controller, f.Name, before); err != nil {
			return fmt.Errorf("take %s back: %w", f.Name, err)
		}
		return nil
	}, nil
}

// inForce is the text that restores a file that was empty. In version 2 a group that uses its
// parent's CPUs has an empty list, and the kernel does not accept an empty list while processes
// are in the group: inForce names the parent's CPUs.
func inForce(g cgroup.Group, f isolation.File) string {
	if text, err := g.Read(f.Controller, f.Name+".effective"); err == nil && text != "" {
		return text
	}
	return "\n" // the kernel never sees a write of 0 bytes
}

func readFile(g cgroup.Group, f isolation.File) (record.Setting, error) {
	s := record.Setting{Name: f.Of.String() + "." + f.Name, Wanted: f.Write}
	got, err := g.Read(f.Controller, f.Name)
	if err != nil {
		return s, fmt.Errorf("read %s back: %w", f.Name, err)
	}
	s.Got = got
	took := f.Took
	if took == nil {
		took = func(got string) bool { return cgroup.Same(got, f.Write) }
	}
	if !took(got) {
		return s, fmt.Errorf("%s of the %s did not take: wrote %q, it reads %q", f.Name, f.Of, f.Write, got)
	}
	return s, nil
}
