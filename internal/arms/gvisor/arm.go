package gvisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/identity"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// arm is an opened Container.
type arm struct {
	*launch.Sandbox
	runtime string // path of runsc
	version string
	self    string // path of this binary
	root    launch.RootDirs

	count  int // of sandboxes made
	inside launch.Slot
	last   *running // the sandbox that inside is
}

// prepare makes the root, the data and the network. The data directory is always bound, because
// runsc writes changes of the root to a file that the host cannot read.
func (a *arm) prepare(ctx context.Context) (err error) {
	if a.self, err = identity.Own(); err != nil {
		return err
	}
	if a.version, err = version(ctx, a.runtime); err != nil {
		return err
	}
	if a.root, err = launch.MakeRootDirs(a.Dir, a.DataDir()); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	return a.OpenNetwork()
}

// version is the version of runsc.
func version(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "runsc version")), nil
}

// Place has the volume.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume, p.Sandboxed, p.OwnRoot = launch.Volume, a.root.HostVolume, true, true
	return p
}

// Start makes a sandbox for the process, or starts the process beside the arm.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	return a.inside.Start(func() (environment.Running, error) { return a.startSandbox(ctx, p) })
}

// startSandbox makes a sandbox whose first process is p.
func (a *arm) startSandbox(ctx context.Context, p environment.Process) (environment.Running, error) {
	if err := a.Open(); err != nil {
		return nil, err
	}
	if err := appends(p.Log); err != nil {
		return nil, err
	}
	a.count++
	id := launch.ContainerID(a.Spec, a.count)
	r := &running{group: a.Group, log: filepath.Join(a.Dir, id+".log"), pidFile: filepath.Join(a.Dir, id+".pid")}
	c := a.Inside(p)
	if err := launch.WriteBundle(filepath.Join(a.Dir, id), a.bundle(p.Args, c.Request.Env).spec()); err != nil {
		return nil, err
	}
	if a.Net != nil && a.count > 1 { // the last sandbox took the address from the link
		if err := a.Net.Restore(); err != nil {
			return nil, err
		}
	}
	c.Clone = unix.CLONE_NEWNS
	c.Request.Root = a.root.Request(nil, false)
	c.Request.Root.Only, c.Request.Root.Hidden = true, hidden()
	c.Request.Exe, c.Request.Args = a.runtime, a.command(id, r, len(p.Files))
	r.ooms, _ = a.Group.OOMKills()
	started, err := a.Sandbox.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	r.Running = started
	r.follow()
	if err := r.awaitSandbox(ctx); err != nil {
		return nil, errors.Join(err, r.Kill())
	}
	a.last = r
	return r, nil
}

// appends sets O_APPEND on the log: the sandbox counts positions in standard output and standard
// error separately, and would overwrite one with the other.
func appends(log *os.File) error {
	if log == nil {
		return nil
	}
	flags, err := unix.FcntlInt(log.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(log.Fd(), unix.F_SETFL, flags|unix.O_APPEND)
	}
	if err != nil {
		return fmt.Errorf("make the log append: %w", err)
	}
	return nil
}

// hidden is the directory by which runsc recognizes the host's network namespace, where it makes no
// network stack. From about Linux 6.13 on, every namespace has it.
func hidden() []string { return []string{"/proc/sys/net"} }

// command is the command line of runsc, without its name.
func (a *arm) command(id string, r *running, files int) []string {
	args := []string{
		"--root=" + filepath.Join(a.Dir, "runsc"), "--log=" + r.log, "--ignore-cgroups", "--network=" + a.network(),
		"run", "--bundle=" + filepath.Join(a.Dir, id), "--pid-file=" + r.pidFile,
	}
	for i := range files {
		fd := strconv.Itoa(launch.FirstFile + i)
		args = append(args, "--pass-fd="+fd+":"+fd)
	}
	return append(args, id)
}

// runsc's words for networks.
const (
	networkOwn  = "sandbox" // its own stack on the arm's link
	networkHost = "host"    // the host's stack
	networkNone = "none"    // its own stack with loopback alone
)

// network is runsc's word for the arm's network.
func (a *arm) network() string {
	switch {
	case a.Net != nil:
		return networkOwn
	case a.Spec.Container.Network == environment.NetworkHost && a.Spec.Port != 0:
		return networkHost
	default:
		return networkNone
	}
}

// Settings reads back what the host sees of the arm.
func (a *arm) Settings() ([]record.Setting, error) { return a.inside.Read(a.settings) }

func (a *arm) settings(p environment.Running) ([]record.Setting, error) {
	if a.Net != nil {
		a.Net.Taken = p != nil
	}
	all, err := a.Sandbox.Settings()
	all = append(all,
		record.Setting{Name: "runtime", Got: a.runtime + " " + a.version},
		record.Setting{Name: "network", Got: a.network()},
		record.Setting{Name: "probes", Got: "of the sandbox as the host sees it; nothing behind its kernel"},
	)
	if p == nil {
		return all, err
	}
	its, readErr := a.last.settings()
	return append(all, its...), errors.Join(err, readErr)
}
