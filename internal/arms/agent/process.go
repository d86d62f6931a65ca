package agent

import (
	"context"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Process is a process that an agent started. It is an environment.Running.
type Process struct {
	link   *Link
	number int
	log    *os.File
	facts  *os.File

	mu     sync.Mutex
	memory *counter.Memory // gets the load's state; nil: no load, or it has ended
	once   sync.Once
	done   chan struct{}
	exit   environment.Exit
}

var _ environment.Running = (*Process)(nil)

// local makes tare's side of a process. It duplicates the files, as a process on this host would
// inherit them.
func (l *Link) local(p environment.Process) (*Process, error) {
	out := &Process{link: l, done: make(chan struct{})}
	var err error
	if p.Log != nil {
		out.log, err = duplicate(p.Log)
	}
	if err == nil && len(p.Files) > 1 {
		out.facts, err = duplicate(p.Files[1])
	}
	var counters *os.File
	if err == nil && len(p.Files) > 0 {
		counters, err = duplicate(p.Files[0])
	}
	if err == nil && counters != nil {
		out.memory, err = counter.Open(counters)
	}
	if err != nil {
		if counters != nil {
			err = errors.Join(err, counters.Close())
		}
		return nil, errors.Join(err, out.close())
	}
	return out, nil
}

// duplicate duplicates a descriptor.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// close closes the duplicated files.
func (p *Process) close() error {
	var errs []error
	if p.memory != nil {
		errs = append(errs, p.memory.Close()) // the caller has a mapping of its own
	}
	for _, f := range []*os.File{p.log, p.facts} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	p.memory, p.log, p.facts = nil, nil, nil
	return errors.Join(errs...)
}

// handle handles an event of the process.
func (p *Process) handle(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Log != nil && p.log != nil:
		_, _ = p.log.Write(e.Log) // an error here must not end the run
	case e.State != nil && p.memory != nil:
		if p.facts != nil && len(e.State.Facts) > 0 {
			_, _ = p.facts.WriteAt(e.State.Facts, 0)
		}
		switch e.State.State {
		case counter.Ready:
			p.memory.SetReady()
		case counter.Failed:
			p.memory.Fail(e.State.Note)
		}
	case e.Exit != nil:
		go p.end(exitOf(*e.Exit))
	}
}

func exitOf(x exit) environment.Exit {
	if x.Why != "" {
		return environment.Exit{Code: -1, Err: errors.New(x.Why)}
	}
	ws := unix.WaitStatus(x.Status)
	if ws.Signaled() {
		return environment.Exit{Code: -1, Signal: unix.SignalName(ws.Signal()), OOM: x.OOM}
	}
	return environment.Exit{Code: ws.ExitStatus()}
}

func (p *Process) end(x environment.Exit) {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.close()
		p.exit = x
		close(p.done)
	})
}

// Pid is 0: the process is not on this host, or its pid is not known.
func (p *Process) Pid() int { return 0 }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how it ended. Valid after Done.
func (p *Process) Exit() environment.Exit { return p.exit }

// Kill asks the agent to kill it and does not wait for its end.
func (p *Process) Kill() error {
	if environment.Ended(p) {
		return nil
	}
	_, err := p.link.ask(context.Background(), request{Kill: p.number}, askBound)
	if environment.Ended(p) {
		return nil
	}
	return err
}
