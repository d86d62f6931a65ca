package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// bound is how long an engine may take for one thing, and for a container to
// begin.
const bound = time.Minute

// handoffDir is where a container has the directory of the socket.
const handoffDir = "/.tare/desk"

// arm is an opened engine's container.
type arm struct {
	*launch.Sandbox
	kind    Kind
	engine  engine.Engine
	name    string // of the container
	root    launch.RootDirs
	handoff *launch.HandoffListener
	facts   []engine.Fact
	user    string // who runs tare, and whose rootless container it is; empty: root
	found   string // group in which the engine had the process

	mu     sync.Mutex
	inside environment.Running // the last one
	state  engine.State        // when it was started
}

// prepare makes everything up to the container.
func (a *arm) prepare(ctx context.Context) (err error) {
	a.name = nameOf(a.Spec)
	if a.user != "" {
		return a.prepareOwn(ctx)
	}
	if a.engine, err = a.connect(); err != nil {
		return err
	}
	if a.facts, err = a.engine.Facts(ctx); err != nil {
		return err
	}
	if !a.elsewhere() {
		if err := a.RecordRuntimeGroups(); err != nil {
			return err
		}
	}
	bound := a.BoundDir()
	if a.fromImage() {
		if err := a.checkImage(ctx); err != nil {
			return err
		}
		bound = a.DataDir()
	}
	if a.root, err = launch.MakeRootDirs(a.Dir, bound); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	if err := a.OpenNetwork(); err != nil {
		return err
	}
	if !a.fromImage() {
		if err := a.mount(); err != nil {
			return err
		}
	}
	c, err := a.container()
	if err != nil {
		return err
	}
	if err := a.Record(engine.ContainerStep{Engine: a.engine.Name(), Host: a.engine.Host(), Name: a.name}, a.remove); err != nil {
		return err
	}
	return a.create(ctx, c)
}

// fromImage says that the root file system is an image's.
func (a *arm) fromImage() bool { return a.Spec.Container.Image != "" }

// checkImage refuses an image that the engine does not have, or that is not for
// this machine.
func (a *arm) checkImage(ctx context.Context) error {
	name := a.Spec.Container.Image
	i, err := a.engine.Image(ctx, name)
	switch {
	case errors.Is(err, engine.ErrNoImage):
		return hint.New(fmt.Errorf("%w: %s has no image %s", facts.ErrUnsupported, a.kind.Name(), name),
			"put it there: tare image load FILE --into "+a.kind.Name())
	case err != nil:
		return err
	case i.OS != "linux" || i.Arch != runtime.GOARCH:
		return hint.New(fmt.Errorf("%w: the image %s is for %s/%s, and this machine is linux/%s", facts.ErrUnsupported, name, i.OS, i.Arch, runtime.GOARCH),
			"build one for this machine: "+a.kind.Name()+" build --platform linux/"+runtime.GOARCH)
	}
	return nil
}

// mount makes the root file system where the engine sees it.
func (a *arm) mount() error {
	if err := a.Record(steps.Mount{Path: a.root.Point}, func() error { return steps.Unmount(a.root.Point) }); err != nil {
		return err
	}
	return a.root.Overlay(false).Mount(a.root.Point)
}

// container is what the engine is to make; the socket for its first process is there.
func (a *arm) container() (engine.Container, error) {
	self, err := launch.OwnPath()
	if err != nil {
		return engine.Container{}, err
	}
	dir := filepath.Join(a.Dir, "desk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return engine.Container{}, fmt.Errorf("make the directory of the socket: %w", err)
	}
	if a.handoff, err = launch.ListenHandoff(dir); err != nil {
		return engine.Container{}, err
	}
	a.Undo(a.handoff.Close)
	c := engine.Container{
		Name: a.name, Owner: a.Spec.Run, Image: a.Spec.Container.Image,
		Binds: []engine.Bind{{Source: self, Target: launch.Exe, ReadOnly: true}, {Source: dir, Target: handoffDir}},
		Args:  append([]string{launch.Exe}, launch.AttendArgs(launch.Socket(handoffDir))...),
		Dir:   "/", Hostname: "container", HostNetwork: a.hostNetwork(),
		Powerless: a.Spec.Container.Capabilities == environment.NoCapabilities,
		Security:  a.Spec.Container.SecurityOptions(),
	}
	if !a.elsewhere() {
		c.Parent = a.GroupPath()
	}
	if !a.fromImage() {
		c.Root = a.root.Point
	}
	for _, m := range a.root.Binds() {
		c.Binds = append(c.Binds, engine.Bind{Source: m.Source, Target: m.Destination})
	}
	return c, nil
}

// create makes the container.
func (a *arm) create(ctx context.Context, c engine.Container) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	return a.engine.Create(ctx, c)
}

// hostNetwork says that the container has the host's network.
func (a *arm) hostNetwork() bool {
	if a.user == "" {
		return a.Net == nil
	}
	return a.Spec.Port == 0 || a.Spec.Container.Network == environment.NetworkHost
}

// remove is not bound by the context of the opening, which may have ended.
func (a *arm) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return a.engine.Remove(ctx, a.name, a.Spec.Run)
}

// Place says where things are.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume = launch.Volume, a.root.HostVolume
	if a.user != "" && !a.hostNetwork() {
		p.Listen = fmt.Sprintf("0.0.0.0:%d", a.Spec.Port) // of a network that is the load's alone
	}
	return p
}

// Start starts the container with the process, or starts it beside.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errors.Join(a.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	if !environment.Ended(a.inside) {
		return nil, environment.ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	running, err := a.start(ctx, p)
	if err != nil {
		return nil, errors.Join(err, a.Group.Kill())
	}
	a.inside = running
	return running, nil
}

func (a *arm) start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if err := a.engine.Start(ctx, a.name); err != nil {
		return nil, err
	}
	conn, err := a.handoff.Accept(ctx, func() error { return a.begun(ctx) })
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if a.state, err = a.engine.State(ctx, a.name); err != nil {
		return nil, err
	}
	if a.state.Pid != conn.Pid {
		return nil, fmt.Errorf("process %d asks for work in the container, and %s says that %d is its first", conn.Pid, a.kind.Name(), a.state.Pid)
	}
	if err := a.adopt(conn.Pid); err != nil {
		return nil, err
	}
	if err := a.note(conn.Pid); err != nil {
		return nil, err
	}
	if err := a.attach(conn.Pid); err != nil {
		return nil, err
	}
	running, err := a.Hold(conn, a.ended)
	if err != nil {
		return nil, err
	}
	c := a.Inside(p)
	c.Request.Dir, c.Request.Exe = launch.Volume, launch.Exe
	if err := conn.Send(ctx, c); err != nil {
		killErr := running.Kill()
		<-running.Done()
		return nil, errors.Join(err, killErr)
	}
	return running, nil
}

// note is for containers outside of the arm's own groups: cleanup ends their first process
// itself. An engine that was killed in between may take a container for one that does not run,
// and removes it without its process. Until it is sent its load, that one ends with tare.
func (a *arm) note(pid int) error {
	if !a.elsewhere() {
		return nil
	}
	step, err := steps.ProcessOf(pid)
	if err != nil {
		return err
	}
	return a.Record(step, func() error { return nil }) // it ends with the container
}

// begun says that a container ended before it asked for anything.
func (a *arm) begun(ctx context.Context) error {
	s, err := a.engine.State(ctx, a.name)
	if err == nil && !s.Running {
		err = fmt.Errorf("the container ended at once, with exit code %d", s.Code)
	}
	return err
}

// attach connects the container's network.
func (a *arm) attach(pid int) error {
	if a.Net == nil {
		return nil
	}
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return fmt.Errorf("hold the container's network: %w", err)
	}
	return a.Net.Attach(ns)
}

// ended asks the engine how the process ended, which is not tare's to wait for.
func (a *arm) ended() environment.Exit {
	s, err := a.engine.Ended(context.Background(), a.name)
	if err != nil {
		return environment.Exit{Code: -1, Err: err}
	}
	const signalled = 128
	if n := s.Code - signalled; n > 0 && n <= 64 {
		if name := unix.SignalName(unix.Signal(n)); name != "" {
			return environment.Exit{Code: -1, Signal: name, OOM: s.OOM && name == "SIGKILL"}
		}
	}
	return environment.Exit{Code: s.Code}
}

// Settings reads back what the container consists of: the kernel is asked, and
// the engine only for what it calls itself.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	errs := []error{err}
	for _, f := range a.facts {
		all = append(all, record.Setting{Name: f.Name, Got: f.Value})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all = append(append(all, a.userSettings()...), a.foundSettings()...)
	if !environment.Ended(a.inside) {
		if a.state.Image != "" {
			all = append(all, record.Setting{Name: a.kind.Name() + ".image", Got: a.state.Image})
		}
		s, err := launch.ReadBack(a.inside.Pid(), a.expect())
		all, errs = append(all, s...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func (a *arm) expect() launch.Expect {
	capabilities := a.state.Capabilities
	if a.kind == Docker {
		capabilities = launch.DockerCapabilities()
	}
	e := launch.Expect{Own: []string{"mnt", "pid", "uts", "ipc"}, Overlay: a.overlay()}.
		Confined(a.Spec.Container, capabilities)
	switch {
	case a.user != "":
		e.Own, e.Either, e.Root = append(e.Own, "user"), []string{"cgroup"}, os.Geteuid()
	case a.Group.Tree.Layout == cgroup.V2:
		e.Own = append(e.Own, "cgroup")
	}
	if !a.hostNetwork() {
		e.Own = append(e.Own, "net")
	}
	return e
}

// overlay says whether the root is one: an engine's storage may also be a file
// system's own snapshots.
func (a *arm) overlay() bool {
	if a.kind == Podman && !a.fromImage() {
		return a.user == "" // tare's
	}
	return strings.HasPrefix(a.fact("storage"), "overlay")
}
