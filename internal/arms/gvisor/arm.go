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
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// arm is an opened sandbox environment.
type arm struct {
	*launch.Sandbox
	runtime string // path of runsc
	version string
	self    string // path of this binary
	root    launch.RootDirs

	mu     sync.Mutex
	count  int // of sandboxes made
	inside *running
}

// prepare makes what stands before the first sandbox. The data directory is always
// bound: runsc keeps what is written to the root in a file of its own, which the host
// cannot read.
func (a *arm) prepare(ctx context.Context) (err error) {
	if a.self, err = launch.OwnPath(); err != nil {
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

// version is the first line of what runsc says of itself.
func version(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", path, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "runsc version")), nil
}

// Place says where things are.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume, p.Sandboxed = launch.Volume, a.root.HostVolume, true
	return p
}

// Start makes a sandbox for the process, or starts it beside.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.Open(); err != nil {
		return nil, err
	}
	if a.inside != nil && !environment.Ended(a.inside) {
		return nil, environment.ErrBusy
	}
	if err := appends(p.Log); err != nil {
		return nil, err
	}
	a.count++
	id := launch.ContainerID(a.Spec, a.count)
	r := &running{group: a.Group, log: filepath.Join(a.Dir, id+".log"), pidFile: filepath.Join(a.Dir, id+".pid")}
	c := a.Inside(p)
	if err := a.bundle(p.Args, c.Request.Env).write(filepath.Join(a.Dir, id)); err != nil {
		return nil, err
	}
	if a.Net != nil && a.count > 1 { // a sandbox takes the addresses for its own network stack
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
	if err := r.begun(ctx); err != nil {
		return nil, errors.Join(err, r.Kill())
	}
	a.inside = r
	return r, nil
}

// appends makes every write to a log go to its end: the sandbox counts its own position in
// each of standard output and standard error.
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

// hidden is what runsc takes for the sign of the host's own network namespace, in which it
// makes no stack; from about Linux 6.13 on every namespace has it.
func hidden() []string { return []string{"/proc/sys/net"} }

// command is runsc's command line behind its name.
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

// runsc's words for a network: its own stack on the arm's link, the host's stack, its own
// with nothing but loopback.
const (
	networkOwn  = "sandbox"
	networkHost = "host"
	networkNone = "none"
)

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

// Settings reads back what the host can see of the arm.
func (a *arm) Settings() ([]record.Setting, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	live := a.inside != nil && !environment.Ended(a.inside)
	if a.Net != nil {
		a.Net.Taken = live
	}
	all, err := a.Sandbox.Settings()
	all = append(all,
		record.Setting{Name: "runtime", Got: a.runtime + " " + a.version},
		record.Setting{Name: "network", Got: a.network()},
		record.Setting{Name: "probes", Got: "of the sandbox as the host sees it; nothing behind its kernel"},
	)
	if !live {
		return all, err
	}
	its, readErr := a.inside.settings()
	return append(all, its...), errors.Join(err, readErr)
}
