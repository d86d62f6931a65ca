package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// Ground is what every arm stands on: its directory, its groups, its freezer,
// the thread that starts its processes, and the way back. An arm of an
// environment holds one and closes it.
type Ground struct {
	Spec environment.Spec
	// Dir is the arm's own directory on the host, below Spec.Scratch.
	Dir string
	// Group holds what runs in the arm and Outside what runs beside it; their
	// zero values where no groups can be made.
	Group, Outside cgroup.Group
	// Neighbour holds the neighbour; its zero value without one.
	Neighbour cgroup.Group
	// Freezer freezes all of them, the neighbour first and then what is outside;
	// nil without groups. Alone leaves the neighbour out; nil without one.
	Freezer, Alone *cgroup.Freezer
	// Limits of Group, as read back by Settings.
	Limits cgroup.Limits
	// Net is the network of the arm's own; nil: it has the host's.
	Net *Network

	thread *Thread

	mu      sync.Mutex
	started []environment.Running
	undo    []func() error // in the order in which they were made
	closed  bool
}

// reapBound is how long a killed process may take to be gone. The last one of
// an overlay syncs the file system below it, with all that others have written.
const reapBound = time.Minute

// NewGround makes the directory and the groups of an arm. On an error nothing
// is left.
func NewGround(spec environment.Spec, groups Groups) (_ *Ground, err error) {
	groups.Limits = groups.Limits.With(spec.Limits)
	g := &Ground{Spec: spec, Dir: dirOf(spec), Limits: groups.Limits, thread: NewThread()}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	g.Undo(func() error { g.thread.Close(); return nil })
	if err := g.makeDir(); err != nil {
		return nil, err
	}
	if spec.Limits != (cgroup.Limits{}) && len(groups.Controllers) == 0 {
		return nil, fmt.Errorf("limits: %w: they need a control group with controllers", environment.ErrUnsupported)
	}
	if groups.Tree == nil {
		if spec.Neighbour != nil {
			return nil, fmt.Errorf("a neighbour: %w: it needs a control group", environment.ErrUnsupported)
		}
		return g, nil
	}
	if g.Group, err = g.makeGroup(groups.Tree, groupPath(spec), groups.Controllers); err != nil {
		return nil, err
	}
	if g.Outside, err = g.makeGroup(groups.Tree, outsidePath(spec), nil); err != nil {
		return nil, err
	}
	if _, err := g.Group.Apply(groups.Limits); err != nil {
		return nil, err
	}
	if spec.Neighbour != nil {
		if err := g.makeNeighbour(groups); err != nil {
			return nil, err
		}
	}
	return g, g.makeFreezers()
}

func (g *Ground) makeFreezers() (err error) {
	all := []cgroup.Group{g.Outside, g.Group}
	if g.Neighbour.Tree != nil {
		if g.Alone, err = cgroup.NewFreezer(all...); err != nil {
			return err
		}
		g.Undo(g.Alone.Close)
		all = append([]cgroup.Group{g.Neighbour}, all...)
	}
	if g.Freezer, err = cgroup.NewFreezer(all...); err != nil {
		return err
	}
	g.Undo(g.Freezer.Close)
	return nil
}

// dirOf is the directory of an arm; its name is one that the journal removes.
func dirOf(s environment.Spec) string {
	return filepath.Join(s.Scratch, "tare-"+s.Run+"-"+s.Arm)
}

// Undo adds a step of the way back, to be taken before those added earlier.
func (g *Ground) Undo(f func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undo = append(g.undo, f)
}

// Record writes a step to the journal before its change is made, and adds the
// way back: back is run by Close, and where it works the step is done.
func (g *Ground) Record(s journal.Step, back func() error) error {
	token, err := g.Spec.Journal.Add(s)
	if err != nil {
		return err
	}
	g.Undo(func() error {
		if err := back(); err != nil {
			return err
		}
		return g.Spec.Journal.Done(token)
	})
	return nil
}

func (g *Ground) makeDir() error {
	if !filepath.IsAbs(g.Dir) {
		return fmt.Errorf("scratch directory %q: want an absolute path", g.Spec.Scratch)
	}
	if err := g.Record(journal.Directory(g.Dir), func() error { return os.RemoveAll(g.Dir) }); err != nil {
		return err
	}
	err := os.Mkdir(g.Dir, 0o755)
	if err == nil {
		err = os.Symlink(selfPath, g.exe())
	}
	if err != nil {
		return fmt.Errorf("make the directory of arm %s: %w", g.Spec.Arm, err)
	}
	return nil
}

// exe gives processes the name tare instead of exe.
func (g *Ground) exe() string { return filepath.Join(g.Dir, "tare") }

func (g *Ground) makeGroup(t *cgroup.Tree, path string, controllers []string) (cgroup.Group, error) {
	p, err := t.Plan(path, controllers)
	if err != nil {
		return cgroup.Group{}, err
	}
	var made cgroup.Group
	if err := g.Record(journal.Group(p), func() error { return made.Remove() }); err != nil {
		return cgroup.Group{}, err
	}
	// Another arm with a Tree of its own may remove the parent in between.
	for range 5 {
		if made, err = t.Make(path, controllers); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return made, err
}

// Open says whether the arm is open: nil, or ErrClosed.
func (g *Ground) Open() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	return nil
}

// Start starts a child of the arm.
func (g *Ground) Start(ctx context.Context, c Child) (environment.Running, error) {
	if err := g.Open(); err != nil {
		return nil, err
	}
	p, err := g.thread.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	return p, g.track(p)
}

// OnThread runs f on the thread that starts the arm's processes: one that f
// starts and that is bound to its thread does not end with a stranger's.
func (g *Ground) OnThread(f func() error) error { return g.thread.start(f) }

// StartContainer starts a container in the arm.
func (g *Ground) StartContainer(ctx context.Context, c Child) (environment.Running, error) {
	for _, dir := range g.Group.Dirs {
		if file := filepath.Join(dir, "freezer.state"); exists(file) && !slices.Contains(c.Request.Runtime.Thaw, file) {
			c.Request.Runtime.Thaw = append(c.Request.Runtime.Thaw, file)
		}
	}
	if err := g.Open(); err != nil {
		return nil, err
	}
	// When tare is gone the keeper and the runtime that it calls may go on for a
	// moment and make what cleanup has just removed.
	c.Keeper = func(pid int) error {
		step, err := journal.Process(pid)
		if err != nil {
			return err
		}
		return g.Record(step, func() error { return nil }) // it ends with the container
	}
	k, err := g.thread.StartContainer(ctx, c)
	if err != nil {
		return nil, err
	}
	return k, g.track(k)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// track makes Close end a process; one that comes too late for that is ended
// at once.
func (g *Ground) track(p environment.Running) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errors.Join(ErrClosed, p.Kill())
	}
	g.started = append(g.started, p)
	return nil
}

// Alive returns the processes that have not ended.
func (g *Ground) Alive() []environment.Running {
	g.mu.Lock()
	defer g.mu.Unlock()
	var alive []environment.Running
	for _, p := range g.started {
		select {
		case <-p.Done():
		default:
			alive = append(alive, p)
		}
	}
	return alive
}

// Place is what the ground knows of it: groups and freezer.
func (g *Ground) Place() environment.Place {
	p := environment.Place{Group: g.Group, OutsideGroup: g.Outside, NeighbourGroup: g.Neighbour}
	p.Listen, p.Dial = g.addresses()
	if g.Freezer != nil {
		p.Pause = g.Freezer
	}
	if g.Alone != nil {
		p.Alone, p.NeighbourDir = g.Alone, g.neighbourDir()
	}
	return p
}

// Settings reads back the limits of the group, and the network.
func (g *Ground) Settings() ([]record.Setting, error) {
	all, err := g.groupSettings()
	if g.Net == nil {
		return all, err
	}
	its, nerr := g.Net.Settings()
	return append(all, its...), errors.Join(err, nerr)
}

func (g *Ground) groupSettings() ([]record.Setting, error) {
	if g.Group.Tree == nil {
		return []record.Setting{{Name: "cgroup", Got: "none"}}, nil
	}
	s := []record.Setting{{Name: "cgroup", Got: g.Group.Path}, {Name: "freezer", Got: g.Freezer.Kind()}}
	limits, err := g.Group.Check(g.Limits)
	s = append(s, limits...)
	if g.Neighbour.Tree == nil {
		return s, err
	}
	its, nerr := g.neighbourSettings()
	return append(s, its...), errors.Join(err, nerr)
}

// Close ends every process and takes every change back. It goes on after an
// error and may be called twice.
func (g *Ground) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	err := g.killAll()
	g.mu.Lock()
	undo := g.undo
	g.undo = nil
	g.mu.Unlock()
	for i := len(undo) - 1; i >= 0; i-- {
		err = errors.Join(err, undo[i]())
	}
	if err != nil {
		return fmt.Errorf("close arm %s: %w", g.Spec.Arm, err)
	}
	return nil
}

func (g *Ground) killAll() error {
	var errs []error
	for _, p := range g.Alive() {
		errs = append(errs, p.Kill())
	}
	for _, group := range []cgroup.Group{g.Neighbour, g.Outside, g.Group} {
		if group.Tree != nil {
			errs = append(errs, group.Kill())
		}
	}
	deadline := time.After(reapBound)
	for _, p := range g.Alive() {
		select {
		case <-p.Done():
		case <-deadline:
			errs = append(errs, fmt.Errorf("process %d is not gone %v after SIGKILL%s", p.Pid(), reapBound, stuck(p)))
		}
	}
	return errors.Join(errs...)
}

// StartBeside starts a process beside the arm: its neighbour, or one on the host,
// or on the host's side of the arm's network.
func (g *Ground) StartBeside(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Neighbour {
		return g.startNeighbour(ctx, p)
	}
	c := g.Inside(p)
	c.Group = g.Outside
	if g.Net != nil {
		c.Net = g.Net.Gateway
	}
	return g.Start(ctx, c)
}

// Inside is the child for a process in the arm, without any layer.
func (g *Ground) Inside(p environment.Process) Child {
	c := Inside(p)
	c.Group, c.Request.Exe = g.Group, g.exe()
	return c
}

// Inside is the child for a process, without any layer or arm.
func Inside(p environment.Process) Child {
	return Child{
		Request: Request{Args: p.Args, Env: environ(), Dir: "/"},
		Files:   p.Files, Log: p.Log,
	}
}

// stuck says what a process that does not end is doing.
func stuck(p environment.Running) string {
	pids := []int{p.Pid()}
	if k, ok := p.(*Container); ok {
		pids = append(pids, k.shim.Pid())
	}
	var all string
	for _, pid := range pids {
		status, err := statusOf(pid)
		if err != nil {
			all += fmt.Sprintf("; %d is no longer there", pid)
			continue
		}
		where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		all += fmt.Sprintf("; %d is %s in %s, parent %s", pid, status["State"], where, status["PPid"])
	}
	return all
}
