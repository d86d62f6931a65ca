package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/identity"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// requestTimeout is how long an engine may take for one request, and a container to start.
const requestTimeout = time.Minute

// handoffDir is the directory of the socket in the container.
const handoffDir = "/.tare/handoff"

// arm is an opened engine's container.
type arm struct {
	*launch.Sandbox
	kind        Kind
	engine      engine.Engine
	name        string // of the container
	root        launch.RootDirs
	handoff     *launch.HandoffListener
	facts       []engine.Fact
	user        string // name of the ordinary user that runs tare, rootless; empty: root
	engineGroup string // group in which the engine put the process; empty: a group of the arm

	inside launch.Slot
	state  engine.State // of the container when its process was started
	proxy  int          // pid of docker-proxy; 0: none
}

// prepare makes the container, its root file system and its network. The container does not run yet.
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
	if !a.outsideArmGroup() {
		if err := a.RecordRuntimeGroups(); err != nil {
			return err
		}
	}
	bindDir := a.BoundDir()
	if a.fromImage() {
		if err := a.kind.checkImage(ctx, a.engine, a.Spec.Container.Image); err != nil {
			return err
		}
		bindDir = a.DataDir()
	}
	if a.root, err = launch.MakeRootDirs(a.Dir, bindDir); err != nil {
		return err
	}
	if err := a.FillVolume(ctx, a.root.HostVolume); err != nil {
		return err
	}
	if !a.fromImage() {
		if err := a.mount(); err != nil {
			return err
		}
	}
	if err := a.openNetwork(ctx); err != nil { // after mount, for its mount namespace has that overlay
		return err
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

// fromImage says that the root file system comes from an image.
func (a *arm) fromImage() bool { return a.Spec.Container.Image != "" }

// checkImage refuses an image that the engine does not have, and one for another architecture.
func (k Kind) checkImage(ctx context.Context, e engine.Engine, name string) error {
	i, err := e.Image(ctx, name)
	switch {
	case errors.Is(err, engine.ErrNoImage):
		return hint.New(noImage(k.Name()+" has no image "+name),
			"put it there: tare image load FILE --into "+k.Name())
	case err != nil:
		return err
	case i.OS != "linux" || i.Arch != runtime.GOARCH:
		return hint.New(fmt.Errorf("%w: the image %s is for %s/%s, and this machine is linux/%s", facts.ErrUnsupported, name, i.OS, i.Arch, runtime.GOARCH),
			"build one for this machine: "+k.Name()+" build --platform linux/"+runtime.GOARCH)
	}
	return nil
}

// noImage is the error about an image that an engine does not have.
type noImage string

func (n noImage) Error() string { return string(n) }

func (noImage) Is(target error) bool {
	return target == facts.ErrUnsupported || target == engine.ErrNoImage
}

// mount mounts the root file system in the host's mount namespace, where the engine sees it.
func (a *arm) mount() error {
	if err := a.Record(steps.Mount{Path: a.root.Point}, func() error { return steps.Unmount(a.root.Point) }); err != nil {
		return err
	}
	return a.root.Overlay(false).Mount(a.root.Point)
}

// container describes the container, and makes the socket for its first process.
func (a *arm) container() (engine.Container, error) {
	self, err := identity.Own()
	if err != nil {
		return engine.Container{}, err
	}
	dir := filepath.Join(a.Dir, "handoff")
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
	if a.engineNetwork() {
		c.Network, c.Publish = engine.Bridge, a.Spec.Port
	}
	if !a.outsideArmGroup() {
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

// create makes the container; Start starts it.
func (a *arm) create(ctx context.Context, c engine.Container) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return a.engine.Create(ctx, c)
}

// hostNetwork says that the container has the host's network.
func (a *arm) hostNetwork() bool {
	if a.user == "" {
		return a.Net == nil && !a.engineNetwork()
	}
	return a.Spec.Port == 0 || a.Spec.Container.Network == environment.NetworkHost
}

// remove removes the container. It has a context of its own, because that of Open may have ended.
func (a *arm) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return a.engine.Remove(ctx, a.name, a.Spec.Run)
}

// Place adds the volume to the groups, freezer and addresses of the Sandbox.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume, p.OwnRoot = launch.Volume, a.root.HostVolume, true
	if a.proxy != 0 {
		p.Forwarders = []int{a.proxy}
	}
	if a.Net == nil && a.Spec.Port != 0 && !a.hostNetwork() {
		p.Listen = fmt.Sprintf("0.0.0.0:%d", a.Spec.Port) // in the container's own network namespace
	}
	return p
}

// Start starts the container with the process, or the process beside the arm.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	return a.inside.Start(func() (environment.Running, error) {
		if err := errors.Join(a.Open(), ctx.Err()); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		running, err := a.startContainer(ctx, p)
		if err != nil {
			return nil, errors.Join(err, a.Group.Kill())
		}
		return running, nil
	})
}

// startContainer starts the container and hands p over to its first process.
func (a *arm) startContainer(ctx context.Context, p environment.Process) (environment.Running, error) {
	if err := a.engine.Start(ctx, a.name); err != nil {
		return nil, err
	}
	conn, err := a.handoff.Accept(ctx, func() error { return a.alive(ctx) })
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if a.state, err = a.engine.State(ctx, a.name); err != nil {
		return nil, err
	}
	if a.state.Pid != conn.Pid {
		return nil, fmt.Errorf("process %d of the container connected to tare, but according to %s its first process is %d", conn.Pid, a.kind.Name(), a.state.Pid)
	}
	if err := a.adopt(conn.Pid); err != nil {
		return nil, err
	}
	if err := a.recordProcess(conn.Pid); err != nil {
		return nil, err
	}
	if err := a.attach(conn.Pid); err != nil {
		return nil, err
	}
	if a.kind == Docker && a.engineNetwork() {
		a.proxy = proxyOf(proc.FS("/"), a.Spec.Port)
	}
	running, err := a.AddProcess(conn, a.exitStatus)
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

// recordProcess writes the container's first process to the journal if it is outside of the arm's
// groups, so that cleanup ends it: an engine that was killed may believe that a running container
// has stopped, and remove it without ending its process. It is early enough before Send, because
// until then the process ends with tare.
func (a *arm) recordProcess(pid int) error {
	if !a.outsideArmGroup() {
		return nil
	}
	step, err := steps.ProcessOf(pid)
	if err != nil {
		return err
	}
	return a.Record(step, func() error { return nil }) // it ends with the container
}

// alive returns an error if the container ended before its first process connected to tare.
func (a *arm) alive(ctx context.Context) error {
	s, err := a.engine.State(ctx, a.name)
	if err == nil && !s.Running {
		err = fmt.Errorf("the container ended at once, with exit code %d", s.Code)
	}
	return err
}

// attach connects the container's network namespace to the arm's network.
func (a *arm) attach(pid int) error {
	if a.Net == nil {
		return nil
	}
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return fmt.Errorf("open the container's network namespace: %w", err)
	}
	return a.Net.Attach(ns)
}

// exitStatus asks the engine how the process ended, because it is not a child of tare.
func (a *arm) exitStatus() environment.Exit {
	s, err := a.engine.Ended(context.Background(), a.name)
	if err != nil {
		return environment.Exit{Code: -1, Err: err}
	}
	const signalled = 128 // exit codes above it are 128 + the signal
	if n := s.Code - signalled; n > 0 && n <= 64 {
		if name := unix.SignalName(unix.Signal(n)); name != "" {
			return environment.Exit{Code: -1, Signal: name, OOM: s.OOM && name == "SIGKILL"}
		}
	}
	return environment.Exit{Code: s.Code}
}

// Settings reads the state of the container back from the kernel. Names and versions come from the
// engine.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	for _, f := range a.facts {
		all = append(all, record.Setting{Name: f.Name, Got: f.Value})
	}
	its, readErr := a.inside.Read(a.processSettings)
	return append(all, its...), errors.Join(err, readErr)
}

// processSettings are the settings of the container and its process; p is nil if none runs.
func (a *arm) processSettings(p environment.Running) ([]record.Setting, error) {
	all := append(a.userSettings(), a.foundSettings()...)
	if p == nil {
		return all, nil
	}
	network, err := a.networkSettings()
	if all = append(all, network...); err != nil {
		return all, err
	}
	if a.state.Image != "" {
		all = append(all, record.Setting{Name: a.kind.Name() + ".image", Got: a.state.Image})
	}
	its, err := launch.ReadBack(p.Pid(), a.expect())
	return append(all, its...), err
}

// expect is the state in which the kernel must show the container's process.
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

// overlay says whether the root file system is an overlay. An engine may also store containers as
// snapshots of btrfs or zfs.
func (a *arm) overlay() bool {
	if a.kind == Podman && !a.fromImage() {
		return a.user == "" // tare mounted the overlay
	}
	return strings.HasPrefix(a.fact("storage"), "overlay")
}
