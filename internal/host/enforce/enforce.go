// Package enforce sets what internal/host/isolation describes, reads it back from
// the kernel and takes it back. It acts on groups that tare made and on the
// threads in them, nowhere else. It does not know what the settings are for.
package enforce

import (
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// Sides are whose settings are changed. All groups are frozen while Set works,
// so that no thread is missed.
type Sides struct {
	Neighbour cgroup.Group
	// Arm are the groups of the arm, its own first; settings of files are made
	// in that one.
	Arm []cgroup.Group
}

// Enforced is what was set. It is for one goroutine at a time.
type Enforced struct {
	steps []step
}

// step is one setting that was made.
type step struct {
	// check reads it back; what did not take is an error.
	check func() (record.Setting, error)
	undo  func() error
}

// Set makes all settings and reads each back. On an error nothing is left.
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

// Check reads every setting back. One that is no longer what was set is an
// error, beside all that was read.
func (e *Enforced) Check() ([]record.Setting, error) {
	var all []record.Setting
	var errs []error
	for _, s := range e.steps {
		got, err := s.check()
		all, errs = append(all, got), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Undo takes everything back, the last first, and goes on after errors. It may
// be called twice.
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

// file sets a control file.
func (e *Enforced) file(at Sides, f isolation.File) error {
	g, err := at.group(f.Of)
	if err != nil {
		return fmt.Errorf("set %s: %w", f.Name, err)
	}
	before, err := g.Read(f.Controller, f.Name)
	if err != nil {
		return fmt.Errorf("set %s: %w", f.Name, err)
	}
	if f.Undo != "" {
		before = f.Undo
	}
	if before == "" {
		before = inForce(g, f)
	}
	s := step{
		check: func() (record.Setting, error) { return readFile(g, f) },
		undo: func() error {
			if err := g.Write(f.Controller, f.Name, before); err != nil {
				return fmt.Errorf("take %s back: %w", f.Name, err)
			}
			return nil
		},
	}
	if err := g.Write(f.Controller, f.Name, f.Write); err != nil {
		return fmt.Errorf("set %s of the %s to %q: %w", f.Name, f.Of, f.Write, err)
	}
	e.steps = append(e.steps, s)
	return nil
}

// inForce takes back a file that was empty. A list of CPUs of version 2 is empty in
// a group that has its parent's, and cannot be emptied again while processes are
// in it: those CPUs are written out.
func inForce(g cgroup.Group, f isolation.File) string {
	if text, err := g.Read(f.Controller, f.Name+".effective"); err == nil && text != "" {
		return text
	}
	return "\n" // a write of nothing does not reach the kernel
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
