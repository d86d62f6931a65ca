package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Sandbox is what all kinds of arms have: a directory, control groups, a freezer, the thread that
// starts the processes, and the changes to undo. An arm has one Sandbox and closes it.
type Sandbox struct {
	Spec environment.Spec
	// Dir is the arm's own directory on the host, below Spec.Scratch.
	Dir string
	// Group has the processes in the arm, Outside the processes beside it. Both are zero if tare
	// cannot make groups here.
	Group, Outside cgroup.Group
	// Freezer freezes both groups, Outside first; nil without groups.
	Freezer *cgroup.Freezer
	// Limits are those of Group. Settings reads them back.
	Limits cgroup.Limits
	// Net is the arm's own network; nil: the arm has the host's network, or one of an engine.
	Net *Network
	// HostNet is the namespace that stands for the host's where an engine makes the network; nil:
	// the host's itself. Close does not close it.
	HostNet *os.File

	thread *Thread

	mu      sync.Mutex
	started []environment.Running
	closed  bool

	undo journal.UndoStack
}

// reapBound is how long a killed process may take to end. The last process of a mount namespace
// unmounts its overlay, which syncs the file system below with all dirty data of other processes.
const reapBound = time.Minute

// NewSandbox makes the directory and the groups of an arm. On an error it leaves nothing.
func NewSandbox(spec environment.Spec, groups Groups) (_ *Sandbox, err error) {
	groups.Limits = groups.Limits.With(withSwap(spec.Limits))
	sb := &Sandbox{Spec: spec, Dir: dirOf(spec), Limits: groups.Limits, thread: NewThread()}
	defer func() {
		if err != nil {
			err = errors.Join(err, sb.Close())
		}
	}()
	sb.Undo(func() error { sb.thread.Close(); return nil })
	if err := sb.makeDir(); err != nil {
		return nil, err
	}
	if spec.Limits != (cgroup.Limits{}) && len(groups.Controllers) == 0 {
		return nil, fmt.Errorf("limits: %w: they need a control group with controllers", facts.ErrUnsupported)
	}
	if groups.Tree == nil {
		return sb, nil
	}
	if sb.Group, err = sb.makeGroup(groups.Tree, groups.path(spec), groups.Controllers); err != nil {
		return nil, err
	}
	frozen := []cgroup.Group{sb.Group}
	if !groups.TopLevel {
		if sb.Outside, err = sb.makeGroup(groups.Tree, outside(spec), nil); err != nil {
			return nil, err
		}
		frozen = []cgroup.Group{sb.Outside, sb.Group}
	}
	if _, err := sb.Group.Apply(groups.Limits); err != nil {
		return nil, err
	}
	if sb.Freezer, err = cgroup.NewFreezer(frozen...); err != nil {
		return nil, err
	}
	sb.Undo(sb.Freezer.Close)
	return sb, nil
}

// withSwap adds the limit of swap that Docker and Podman set with a limit of memory: the same amount again.
func withSwap(l cgroup.Limits) cgroup.Limits {
	l.Swap = l.Memory
	return l
}

// dirOf is the directory of an arm. The journal removes only directories with such names.
func dirOf(s environment.Spec) string {
	return filepath.Join(s.Scratch, "tare-"+s.Run+"-"+s.Arm)
}

// Undo adds a function for Close to run. Close runs the functions in reverse order.
func (sb *Sandbox) Undo(f func() error) { sb.undo.Push(f) }

// Record writes a step to the journal; call it before the change. Close calls undo, which must undo
// the change, and marks the step as done if undo succeeds.
func (sb *Sandbox) Record(s journal.Step, undo func() error) error {
	return sb.undo.Record(sb.Spec.Journal, s, undo)
}

// makeDir makes the arm's directory. Other users cannot enter it: a container's root can write
// setuid programs there.
func (sb *Sandbox) makeDir() error {
	if !filepath.IsAbs(sb.Dir) {
		return fmt.Errorf("scratch directory %q: want an absolute path", sb.Spec.Scratch)
	}
	if err := sb.Record(steps.Directory{Path: sb.Dir}, func() error { return steps.RemoveDirectory(sb.Dir) }); err != nil {
		return err
	}
	err := os.Mkdir(sb.Dir, 0o700)
	if err == nil {
		err = os.Symlink(selfPath, sb.exe())
	}
	if err != nil {
		return fmt.Errorf("make the directory of arm %s: %w", sb.Spec.Arm, err)
	}
	return nil
}

// exe is the path of a link to tare's binary. Processes started by it are named tare; by
// /proc/self/exe their name would be exe.
func (sb *Sandbox) exe() string { return filepath.Join(sb.Dir, "tare") }

// makeGroup makes a group, which Close removes.
func (sb *Sandbox) makeGroup(t *cgroup.Tree, path string, controllers []string) (cgroup.Group, error) {
	p, err := t.Plan(path, controllers)
	if err != nil {
		return cgroup.Group{}, err
	}
	var made cgroup.Group
	if err := sb.Record(steps.Group{Plan: p}, func() error { return made.Remove() }); err != nil {
		return cgroup.Group{}, err
	}
	// Another arm with its own Tree may remove the parent directory meanwhile.
	for range 5 {
		if made, err = t.Make(path, controllers); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return made, err
}

// Open returns nil if the sandbox is open, and ErrClosed after Close. It opens nothing.
func (sb *Sandbox) Open() error {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.closed {
		return ErrClosed
	}
	return nil
}

// Start starts a child of the arm.
func (sb *Sandbox) Start(ctx context.Context, c Child) (environment.Running, error) {
	if err := sb.Open(); err != nil {
		return nil, err
	}
	p, err := sb.thread.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	return p, sb.track(p)
}

// OnThread runs f on the thread that starts the arm's processes. If f starts a process with
// Pdeathsig, the kernel ends the process with this thread, which lives as long as the arm.
func (sb *Sandbox) OnThread(f func() error) error { return sb.thread.start(f) }

// Reproduction is empty: only tare can make such an arm.
func (sb *Sandbox) Reproduction() (string, []byte) { return "", nil }

// StartContainer starts a container in the arm. With cgroup version 1 the shim must thaw the arm's
// groups when it kills the container, because a frozen process does not end.
func (sb *Sandbox) StartContainer(ctx context.Context, c Child) (environment.Running, error) {
	for _, dir := range sb.Group.Dirs {
		if file := filepath.Join(dir, "freezer.state"); exists(file) && !slices.Contains(c.Request.Runtime.Thaw, file) {
			c.Request.Runtime.Thaw = append(c.Request.Runtime.Thaw, file)
		}
	}
	if err := sb.Open(); err != nil {
		return nil, err
	}
	// The shim and its runtime may live a moment longer than tare, and make files that cleanup has
	// just removed. So the journal has the shim too, and cleanup ends it first.
	c.ShimStarted = func(pid int) error {
		step, err := steps.ProcessOf(pid)
		if err != nil {
			return err
		}
		return sb.Record(step, func() error { return nil }) // it ends with the container
	}
	k, err := sb.thread.StartContainer(ctx, c)
	if err != nil {
		return nil, err
	}
	return k, sb.track(k)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// track makes Close end a process. If the sandbox is closed already, it kills the process.
func (sb *Sandbox) track(p environment.Running) error {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.closed {
		return errors.Join(ErrClosed, p.Kill())
	}
	sb.started = append(sb.started, p)
	return nil
}

// Alive are the processes that have not ended.
func (sb *Sandbox) Alive() []environment.Running {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	var alive []environment.Running
	for _, p := range sb.started {
		select {
		case <-p.Done():
		default:
			alive = append(alive, p)
		}
	}
	return alive
}

// Place has groups, freezer and addresses.
func (sb *Sandbox) Place() wire.Place {
	p := wire.Place{Group: sb.Group, OutsideGroup: sb.Outside}
	p.Listen, p.Dial = sb.addresses()
	if sb.Freezer != nil {
		p.Pause = sb.Freezer
	}
	return p
}

// Settings reads back the limits of the group and the network.
func (sb *Sandbox) Settings() ([]record.Setting, error) {
	all, err := sb.groupSettings()
	if sb.Net == nil {
		return all, err
	}
	its, nerr := sb.Net.Settings()
	return append(all, its...), errors.Join(err, nerr)
}

func (sb *Sandbox) groupSettings() ([]record.Setting, error) {
	if sb.Group.Tree == nil {
		return []record.Setting{{Name: "cgroup", Got: "none"}}, nil
	}
	s := []record.Setting{{Name: "cgroup", Got: sb.Group.Path}, {Name: "freezer", Got: sb.Freezer.Kind()}}
	limits, err := sb.Group.Check(sb.Limits)
	return append(s, limits...), err
}

// Close ends all processes and takes back all changes. It goes on after an error and may be called
// twice.
func (sb *Sandbox) Close() error {
	sb.mu.Lock()
	sb.closed = true
	sb.mu.Unlock()
	if err := errors.Join(sb.killAll(), sb.undo.Undo()); err != nil {
		return fmt.Errorf("close arm %s: %w", sb.Spec.Arm, err)
	}
	return nil
}

// killAll kills all processes of the arm and waits for those that Sandbox started.
func (sb *Sandbox) killAll() error {
	var errs []error
	for _, p := range sb.Alive() {
		errs = append(errs, p.Kill())
	}
	for _, group := range []cgroup.Group{sb.Outside, sb.Group} {
		if group.Tree != nil {
			errs = append(errs, group.Kill())
		}
	}
	end := time.Now().Add(reapBound)
	for _, p := range sb.Alive() {
		select {
		case <-p.Done():
		case <-time.After(time.Until(end)):
			errs = append(errs, fmt.Errorf("process %d is not gone %v after SIGKILL%s", p.Pid(), reapBound, whereItWaits(p)))
		}
	}
	return errors.Join(errs...)
}

// StartBeside starts a process beside the arm: on the host, in the gateway namespace of the arm's
// network, or in HostNet.
func (sb *Sandbox) StartBeside(ctx context.Context, p environment.Process) (environment.Running, error) {
	c := sb.Inside(p)
	c.Group = sb.Outside
	if c.Net = sb.HostNet; sb.Net != nil {
		c.Net = sb.Net.Gateway
	}
	return sb.Start(ctx, c)
}

// Inside describes a child that runs p in the arm's group, without other layers.
func (sb *Sandbox) Inside(p environment.Process) Child {
	c := Inside(p)
	c.Group, c.Request.Exe = sb.Group, sb.exe()
	return c
}

// Inside describes a child that runs p on the host: in no arm's group and without layers.
func Inside(p environment.Process) Child {
	return Child{
		Request: Request{Args: p.Args, Env: append(environ(), p.Env...), Dir: "/"},
		Files:   p.Files, Log: p.Log,
	}
}

// whereItWaits describes the state of a process that does not end, and of its ancestors up to tare:
// each with the kernel function in which it waits.
func whereItWaits(p environment.Running) string {
	var all string
	for pid := p.Pid(); pid > 1 && pid != os.Getpid(); {
		status, err := statusOf(pid)
		if err != nil {
			return all + fmt.Sprintf("; %d is no longer there", pid)
		}
		where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		all += fmt.Sprintf("; %d is %s in %s, parent %s", pid, status["State"], where, status["PPid"])
		pid, _ = strconv.Atoi(status["PPid"])
	}
	return all
}
