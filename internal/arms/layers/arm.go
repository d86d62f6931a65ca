package layers

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// arm is an opened rung.
type arm struct {
	*launch.Sandbox
	rung Rung
	root launch.RootDirs // from RootFS on
	user bool            // tare runs as an ordinary user: namespaces are made in a user namespace
	// volume is the data directory as the arm sees it, hostVolume as the host sees it.
	volume, hostVolume string

	inside launch.Slot
}

// prepare makes volume, root and network.
func (a *arm) prepare(ctx context.Context) error {
	a.user = os.Geteuid() != 0
	if err := a.prepareVolume(ctx); err != nil {
		return err
	}
	if !a.rung.has(Network) {
		return nil
	}
	publish := 0
	if a.rung.has(NAT) {
		publish = a.Spec.Port
	}
	return a.MakeNetwork(publish)
}

// prepareVolume makes the directories of the root and fills the data directory.
func (a *arm) prepareVolume(ctx context.Context) error {
	if !a.rung.has(RootFS) {
		a.hostVolume = a.DataDir()
		a.volume = a.hostVolume
		if err := a.OpenWay(a.hostVolume); err != nil {
			return err
		}
		return a.FillVolume(ctx, a.hostVolume)
	}
	var err error
	if a.root, err = launch.MakeRootDirs(a.Dir, a.BoundDir()); err != nil {
		return err
	}
	if err := a.root.LinkExe(); err != nil {
		return err
	}
	if a.user {
		if err := a.root.LinkUsr(); err != nil {
			return err
		}
	}
	a.volume, a.hostVolume = launch.Volume, a.root.HostVolume
	return a.FillVolume(ctx, a.hostVolume)
}

// Place has the volume.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume, p.OwnRoot = a.volume, a.hostVolume, a.rung.has(RootFS)
	return p
}

// Start starts a process in the arm or beside it. From Namespaces on the arm has one process at a
// time, the first of its pid namespace.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	start := a.inside.Replace
	if a.rung.has(Namespaces) {
		start = a.inside.Start
	}
	return start(func() (environment.Running, error) {
		c, err := a.child(p)
		if err != nil {
			return nil, err
		}
		return a.Sandbox.Start(ctx, c)
	})
}

// child is a child with the layers of the rung.
func (a *arm) child(p environment.Process) (launch.Child, error) {
	c := a.Inside(p)
	c.Request.Dir = a.volume
	if a.rung.has(Namespaces) {
		c.Clone = launch.Namespaces(a.user)
		c.Request.Hostname = a.rung.Name()
		c.Request.CgroupNS = a.cgroupNS()
	}
	if a.rung.has(RootFS) {
		c.Request.Root, c.Request.Exe = a.rootRequest(), launch.Exe
	}
	if a.rung.has(Security) {
		var err error
		if c.Request.Security, err = launch.DockerSecurity(); err != nil {
			return c, err
		}
	}
	if a.Net != nil {
		c.Net = a.Net.Arm
	}
	return c, nil
}

// cgroupNS says whether the arm has a cgroup namespace: Docker makes one where version 2 is the only
// one.
func (a *arm) cgroupNS() bool {
	return a.Group.Tree != nil && a.Group.Tree.Layout == cgroup.V2
}

// rootRequest is the root file system of a child.
func (a *arm) rootRequest() *launch.Root {
	mounts := launch.DockerMounts()
	if !a.user {
		mounts = append(mounts, a.cgroupMounts()...)
	}
	return a.root.Request(mounts, a.user)
}

// cgroupMounts are the mounts of control groups as runtimes make them: version 2 itself, and for
// version 1 bind mounts of the arm's groups in a tmpfs.
func (a *arm) cgroupMounts() []specs.Mount {
	switch {
	case a.Group.Tree == nil:
		return nil
	case a.cgroupNS():
		return []specs.Mount{launch.DockerCgroups(true)}
	}
	at := launch.DockerCgroups(false)
	list := []specs.Mount{{Destination: at.Destination, Type: "tmpfs", Source: "cgroup", Options: []string{"nosuid", "noexec", "nodev", "mode=755"}}}
	for _, c := range a.Group.Controllers {
		if a.Group.Tree.V1[c] != "" {
			list = append(list, specs.Mount{Destination: filepath.Join(at.Destination, c), Source: a.Group.Dirs[c], Options: append([]string{"bind"}, at.Options...)})
		}
	}
	return list
}

// Settings reads back the layers of the rung: groups and network at any time, the others while a
// process runs in the arm.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	its, readErr := a.inside.ReadBack(a.expect)
	return append(all, its...), errors.Join(err, readErr)
}

// expect is the state that the kernel has to show of the process.
func (a *arm) expect() launch.Expect {
	var e launch.Expect
	if a.rung.has(Namespaces) {
		e.Own = append(e.Own, "mnt", "pid", "uts", "ipc")
		if a.user {
			e.Own = append(e.Own, "user")
		}
		if a.cgroupNS() {
			e.Own = append(e.Own, "cgroup")
		}
	}
	if a.Net != nil {
		e.Own = append(e.Own, "net")
	}
	e.Either = a.Spec.OwnMounts()
	e.Overlay = a.rung.has(RootFS)
	if a.rung.has(Security) {
		e.Capabilities, e.Seccomp = launch.DockerCapabilities(), true
	}
	return e
}
