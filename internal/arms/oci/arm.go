package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/identity"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// arm is an opened Container.
type arm struct {
	*launch.Sandbox
	runtime string // path of runc or crun
	self    string // path of this binary
	root    launch.RootDirs

	count  int // of containers made
	inside launch.Slot
}

// prepare makes the root, the data and the network.
func (a *arm) prepare(ctx context.Context) (err error) {
	if a.self, err = identity.Own(); err != nil {
		return err
	}
	if err := a.RecordRuntimeGroups(); err != nil {
		return err
	}
	if a.root, err = launch.MakeRootDirs(a.Dir, a.BoundDir()); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	return a.OpenNetwork()
}

// Place has the volume.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume, p.OwnRoot = launch.Volume, a.root.HostVolume, true
	return p
}

// Start makes a container for the process, or starts the process beside the arm.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	return a.inside.Start(func() (environment.Running, error) { return a.startContainer(ctx, p) })
}

// startContainer makes a container whose first process is p.
func (a *arm) startContainer(ctx context.Context, p environment.Process) (environment.Running, error) {
	err := a.Open()
	if err != nil {
		return nil, err
	}
	a.count++
	id := launch.ContainerID(a.Spec, a.count)
	runtime := launch.Runtime{
		Path: a.runtime, Root: filepath.Join(a.Dir, "runtime"), ID: id,
		Bundle: filepath.Join(a.Dir, id), Log: filepath.Join(a.Dir, id+".log"),
	}
	c := a.Inside(p)
	if err := a.bundle(p, c.Request.Env).write(runtime.Bundle); err != nil {
		return nil, err
	}
	if err := a.Record(ContainerStep{Runtime: runtime.Path, Root: runtime.Root, ID: id}, func() error { return a.OnThread(func() error { return remove(runtime) }) }); err != nil {
		return nil, err
	}
	if c.Created, err = a.restoreMemory(); err != nil {
		return nil, err
	}
	if t := a.Group.Tree; t.Layout == cgroup.Hybrid && filepath.Base(a.runtime) == "crun" {
		// crun fails where version 2 has controllers beside version 1, so version 2 is hidden
		// from it. tare moves the container into the group of version 2.
		runtime.Hide = []string{t.V2}
	}
	c.Request.Runtime = &runtime
	c.Request.Root = a.root.Request(nil, false)
	c.Request.Root.Only = true
	running, err := a.StartContainer(ctx, c)
	if err != nil {
		if profile := a.Spec.Container.Profile(); profile != "" {
			err = hint.New(fmt.Errorf("under the AppArmor profile %q: %w", profile, err), "aa-status lists the profiles that are loaded; apparmor_parser -r FILE loads one")
		}
		return nil, err
	}
	return running, nil
}

func (a *arm) bundle(p environment.Process, env []string) bundle {
	b := bundle{
		root: a.root, self: a.self, args: p.Args, env: env,
		group: a.GroupPath(), v2: a.Group.Tree.Layout == cgroup.V2, chosen: a.Spec.Container,
	}
	if a.Net != nil {
		b.netns = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), a.Net.Arm.Fd())
	}
	return b
}

// memoryFiles are the limits of memory, and of memory with swap, in the order in which they can be raised.
var memoryFiles = []string{"memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.swap.max", "memory.max"}

// restoreMemory reads the group's memory limits and returns a function that sets them again: crun 1.8
// removes the limits of a group that it did not make.
func (a *arm) restoreMemory() (func() error, error) {
	before := map[string]string{}
	for _, file := range memoryFiles {
		text, err := a.Group.Read("memory", file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		before[file] = text
	}
	return func() error {
		var changed []string
		for _, file := range memoryFiles {
			now, err := a.Group.Read("memory", file)
			switch {
			case before[file] == "":
			case err != nil:
				return err
			case now != before[file]:
				changed = append(changed, file)
			}
		}
		for _, file := range slices.Backward(changed) { // memory alone is lowered first
			if err := a.Group.Set("memory", file, before[file]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// remove deletes a container and its state. A container that does not exist is no error.
func remove(r launch.Runtime) error {
	if _, err := os.Stat(filepath.Join(r.Root, r.ID)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := r.Command("delete", "--force", r.ID).Run(); err != nil {
		return r.Failed("delete", err)
	}
	return nil
}

// Settings reads back the container from the kernel, not from the runtime.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	all = append(all, record.Setting{Name: "runtime", Got: a.runtime})
	its, readErr := a.inside.ReadBack(a.expect)
	return append(all, its...), errors.Join(err, readErr)
}

// expect is the state that the kernel has to show of the process.
func (a *arm) expect() launch.Expect {
	e := launch.Expect{Own: []string{"mnt", "pid", "uts", "ipc"}, Overlay: true}.
		Confined(a.Spec.Container, launch.DockerCapabilities())
	if a.Group.Tree.Layout == cgroup.V2 {
		e.Own = append(e.Own, "cgroup")
	}
	if a.Net != nil {
		e.Own = append(e.Own, "net")
	}
	return e
}
