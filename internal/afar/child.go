package afar

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/probe"
	"github.com/tarelab/tare/internal/window"
)

// child is a process that the agent has started, in a session of its own.
type child struct {
	number, pid int
	dir         string
	probes      *probe.Set
	ooms        uint64
	done        chan struct{}
	logged      chan struct{}          // closed when all that it printed was passed on
	why         atomic.Pointer[string] // it was ended by the agent; nil: it was not
	watched     chan struct{}          // closed when what it said of its state was
}

// start starts a process; with counters it is the load.
func (a *agent) start(number int, s start) (err error) {
	var held []io.Closer // what the process's end closes, once it has begun
	defer func() {
		for _, f := range held {
			if err != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	log, printed, err := os.Pipe()
	if err != nil {
		return err
	}
	held = append(held, log)
	defer printed.Close()
	files := []*os.File{null, printed, printed}
	var memory *counter.Memory
	var said *os.File
	if s.Threads > 0 {
		if memory, err = counter.Create(s.Threads); err != nil {
			return err
		}
		held = append(held, memory)
		if said, err = facts.Create(); err != nil {
			return err
		}
		held = append(held, said)
		memory.HoldWhenReady()
		files = append(files, memory.File(), said)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if memory != nil && a.load != nil && a.load.Ended() == nil {
		return errors.New("a load runs here already")
	}
	c := &child{number: number, dir: s.Dir, done: make(chan struct{}), logged: make(chan struct{}), watched: make(chan struct{})}
	if err := c.fork(s, files); err != nil {
		return err
	}
	c.probes = probe.OpenAll(probe.All(), c.target())
	a.children[number] = c
	go a.passOn(c, log)
	if memory != nil {
		a.load = &window.Load{Memory: memory, Probes: c.probes, Ended: c.ended}
		go a.watch(c, memory, said)
	} else {
		close(c.watched)
	}
	return nil
}

// fork makes the process, within its bounds.
func (c *child) fork(s start, files []*os.File) error {
	var fds []uintptr
	for _, f := range files {
		fds = append(fds, f.Fd())
	}
	c.ooms, _ = ownGroup().OOMKills()
	var err error
	c.pid, err = syscall.ForkExec(selfPath, append([]string{"tare"}, s.Args...), &syscall.ProcAttr{
		Dir: s.Dir, Env: append(os.Environ(), s.Env...), Files: fds, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	if s.Bounds == nil {
		return nil
	}
	return c.bound(*s.Bounds)
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

// reap waits for whatever ends, orphans too.
func (a *agent) reap(ended <-chan os.Signal) {
	for range ended {
		for {
			var ws unix.WaitStatus
			pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil || pid <= 0 {
				break
			}
			a.ended(pid, ws)
		}
	}
}

// logBound is how long what a process printed last may take: what it has left
// behind may hold its output open.
const logBound = 200 * time.Millisecond

func (a *agent) ended(pid int, ws unix.WaitStatus) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.children {
		if c.pid != pid {
			continue
		}
		_ = unix.Kill(-pid, unix.SIGKILL) // what it has left behind
		close(c.done)
		delete(a.children, c.number)
		x := &exit{Status: int(ws)}
		if n, err := ownGroup().OOMKills(); err == nil && n > c.ooms {
			x.OOM = ws.Signaled() && ws.Signal() == unix.SIGKILL
		}
		if why := c.why.Load(); why != nil {
			x.Why = *why
		}
		go func() {
			select {
			case <-c.logged:
			case <-time.After(logBound):
			}
			<-c.watched
			a.tell(event{Number: c.number, Exit: x})
		}()
	}
}

func (a *agent) kill(number int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.children[number]
	if c == nil {
		return nil // it has ended
	}
	return errors.Join(unix.Kill(c.pid, unix.SIGKILL), unix.Kill(-c.pid, unix.SIGKILL))
}
