package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
)

// child is a process that the agent has started, in a session of its own.
type child struct {
	number, pid int
	dir         string
	probes      *probe.Set
	load        *window.Load // nil: it has no counters here
	ooms        uint64
	done        chan struct{}
	logged      chan struct{}          // closed when all that it printed was passed on
	why         atomic.Pointer[string] // it was ended by the agent; nil: it was not
	watched     chan struct{}          // closed when what it said of its state was
	buried      chan struct{}          // closed when all that came of it has ended too
}

// start starts a process: with the files that came for it, else with its output passed
// on, and as the load if it has counters. The files are closed.
func (a *agent) start(number int, s start, files []*os.File) (pid int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child != nil && !over(a.child.buried) {
		err = errors.New("a process runs here already")
	} else if len(files) != s.Files {
		err = fmt.Errorf("%d descriptors came, want %d", len(files), s.Files)
	}
	if err != nil {
		return 0, errors.Join(err, closeAll(files))
	}
	c := &child{
		number: number, dir: s.Dir,
		done: make(chan struct{}), logged: make(chan struct{}), watched: make(chan struct{}), buried: make(chan struct{}),
	}
	if s.Files > 0 {
		err = a.fork(c, s, append([]*os.File{files[0]}, files...)) // the log is for output and errors
		close(c.logged)
		close(c.watched)
		_ = closeAll(files)
	} else {
		err = a.startHere(c, s)
	}
	if err != nil {
		return 0, err
	}
	a.child = c
	return c.pid, nil
}

// startHere starts a process whose output and state are passed on.
func (a *agent) startHere(c *child, s start) (err error) {
	log, printed, err := os.Pipe()
	if err != nil {
		return err
	}
	defer printed.Close()
	held, files := []*os.File{log}, []*os.File{printed, printed} // held: what its end closes, once it has begun
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(held))
		}
	}()
	var memory *counter.Memory
	if s.Threads > 0 {
		if memory, err = counter.Create(s.Threads); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, memory.Close())
			}
		}()
		said, err := readback.Create()
		if err != nil {
			return err
		}
		held = append(held, said)
		memory.HoldWhenReady()
		files = append(files, memory.File(), said)
	}
	if err := a.fork(c, s, files); err != nil {
		return err
	}
	c.probes = probe.OpenAll(probe.All(), c.target())
	go a.passOn(c, log)
	if memory == nil {
		close(c.watched)
		return nil
	}
	c.load = &window.Load{Memory: memory, Probes: c.probes, Ended: c.ended}
	go a.watch(c, memory, held[1])
	return nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// fork makes the process, within its bounds; the files are its descriptors from 1 on.
func (a *agent) fork(c *child, s start, files []*os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	fds := []uintptr{null.Fd()}
	for _, f := range files {
		fds = append(fds, f.Fd())
	}
	env := s.Env
	if s.Files == 0 {
		env = append(os.Environ(), env...)
	}
	c.ooms, _ = ownGroup().OOMKills()
	c.pid, err = a.execute(selfPath, append([]string{"tare"}, s.Args...), &syscall.ProcAttr{
		Dir: s.Dir, Env: env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if s.Bounds == nil {
		return nil
	}
	return a.bound(c, *s.Bounds)
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

const selfPath = "/proc/self/exe"

// passOn passes on what a process prints.
func (a *agent) passOn(c *child, log *os.File) {
	defer close(c.logged)
	defer log.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := log.Read(buf)
		if n > 0 {
			a.tell(event{Number: c.number, Log: buf[:n]})
		}
		if err != nil {
			return
		}
	}
}

// watch says when the load is ready, with what it has read back, or has given up.
func (a *agent) watch(c *child, memory *counter.Memory, said *os.File) {
	defer close(c.watched)
	defer said.Close()
	before := counter.Starting
	for every := 2 * time.Millisecond; ; {
		last := over(c.done)
		now, note := memory.State()
		if now != before {
			if now == counter.Ready {
				every = 100 * time.Millisecond
			}
			text, err := io.ReadAll(io.NewSectionReader(said, 0, 1<<30))
			if err != nil {
				text = nil
			}
			a.tell(event{Number: c.number, State: &state{now, note, text}})
			before = now
		}
		if last {
			return
		}
		select {
		case <-c.done:
		case <-time.After(every):
		}
	}
}

// logBound is how long what a process printed last may take: what it has left
// behind may hold its output open.
const logBound = 200 * time.Millisecond

// bury ends what a process has left behind, as the end of a container's first process
// does, and says how it ended. Until then no other one is started.
func (a *agent) bury(c *child, ws unix.WaitStatus) {
	x := &exit{Status: int(ws)}
	if n, err := ownGroup().OOMKills(); err == nil && n > c.ooms {
		x.OOM = ws.Signaled() && ws.Signal() == unix.SIGKILL
	}
	if why := c.why.Load(); why != nil {
		x.Why = *why
	}
	a.endAll(endBound)
	close(c.buried)
	select {
	case <-c.logged:
	case <-time.After(logBound):
	}
	<-c.watched
	a.tell(event{Number: c.number, Exit: x})
}
