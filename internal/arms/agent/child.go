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

// child is a process that the agent started, in a session of its own.
type child struct {
	number, pid int // number of the request that started it
	dir         string
	probes      *probe.Set
	load        *window.Load           // nil: the agent does not share its counters
	ooms        uint64                 // kills in the pod's group before it was started
	why         atomic.Pointer[string] // why the agent ended it; nil: the agent did not
	done        chan struct{}          // closed when it was reaped
	logged      chan struct{}          // closed when all its output was passed on
	watched     chan struct{}          // closed when its last state was passed on
	finished    chan struct{}          // closed when all its descendants have ended
}

// start starts a process. With files that came with the request, the first is its output and
// it inherits the others; without, the agent passes its output on and, if it has counters,
// measures it. start closes the files.
func (a *agent) start(r request, files []*os.File) (_ event, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := *r.Start
	if a.child != nil && !isClosed(a.child.finished) {
		err = errors.New("a process runs here already")
	} else if len(files) != s.Files {
		err = fmt.Errorf("%d descriptors came, want %d", len(files), s.Files)
	}
	if err != nil {
		return event{}, errors.Join(err, closeAll(files))
	}
	c := &child{
		number: r.Number, dir: s.Dir,
		done: make(chan struct{}), logged: make(chan struct{}), watched: make(chan struct{}), finished: make(chan struct{}),
	}
	if s.Files > 0 {
		err = a.fork(c, s, append([]*os.File{files[0]}, files...)) // standard output and standard error
		close(c.logged)
		close(c.watched)
		_ = closeAll(files)
	} else {
		err = a.startWatched(c, s)
	}
	if err != nil {
		return event{}, err
	}
	a.child = c
	return event{Pid: c.pid}, nil
}

// startWatched starts a process whose output and state the agent passes on.
func (a *agent) startWatched(c *child, s start) (err error) {
	log, printed, err := os.Pipe()
	if err != nil {
		return err
	}
	defer printed.Close()
	kept, files := []*os.File{log}, []*os.File{printed, printed} // kept: passOn and watchState close them
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(kept))
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
		facts, err := readback.Create()
		if err != nil {
			return err
		}
		kept = append(kept, facts)
		memory.HoldWhenReady()
		files = append(files, memory.File(), facts)
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
	go a.watchState(c, memory, kept[1])
	return nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// fork starts the process, within its bounds. The files are its descriptors from 1 on.
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
	c.pid, err = a.forkExec(selfPath, append([]string{"tare"}, s.Args...), &syscall.ProcAttr{
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

// isClosed says whether a channel is closed.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

const selfPath = "/proc/self/exe"

// passOn sends the output of a process to tare.
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

// watchState tells tare when the load is ready or has failed, with the settings that the load
// wrote to facts.
func (a *agent) watchState(c *child, memory *counter.Memory, facts *os.File) {
	defer close(c.watched)
	defer facts.Close()
	before := counter.Starting
	for every := 2 * time.Millisecond; ; {
		last := isClosed(c.done)
		now, note := memory.State()
		if now != before {
			if now == counter.Ready {
				every = 100 * time.Millisecond
			}
			text, err := io.ReadAll(io.NewSectionReader(facts, 0, 1<<30))
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

// logBound is how long the end of the output is waited for: a descendant may hold it open.
const logBound = 200 * time.Millisecond

// finish ends the descendants of a process that has ended, as the end of a container's first
// process does, and tells tare how it ended. No other process is started before.
func (a *agent) finish(c *child, ws unix.WaitStatus) {
	x := &exit{Status: int(ws)}
	if n, err := ownGroup().OOMKills(); err == nil && n > c.ooms {
		x.OOM = ws.Signaled() && ws.Signal() == unix.SIGKILL
	}
	if why := c.why.Load(); why != nil {
		x.Why = *why
	}
	a.endAll(endBound)
	close(c.finished)
	select {
	case <-c.logged:
	case <-time.After(logBound):
	}
	<-c.watched
	a.tell(event{Number: c.number, Exit: x})
	a.closeProbes(c)
}

// closeProbes closes the probes of a child that has ended; another one may follow.
func (a *agent) closeProbes(c *child) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	if c.probes != nil {
		_ = c.probes.Close() // they read only
	}
}
