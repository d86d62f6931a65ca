package afar

import (
	"context"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
)

// Process is a process at the other end: an environment.Running.
type Process struct {
	link   *Link
	number int
	log    *os.File
	facts  *os.File

	mu     sync.Mutex
	memory *counter.Memory // of this side, where the load's state is told; nil: no load, or ended
	once   sync.Once
	done   chan struct{}
	exit   environment.Exit
}

var _ environment.Running = (*Process)(nil)

// mirror opens the counters of this side, apart from the caller's.
func mirror(f *os.File) (*counter.Memory, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	own := os.NewFile(uintptr(fd), f.Name())
	m, err := counter.Open(own)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return m, nil
}

// take is something that happened to the process.
func (p *Process) take(n news) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case n.Log != nil && p.log != nil:
		_, _ = p.log.Write(n.Log) // a log that cannot be written ends nothing
	case n.State != nil && p.memory != nil:
		if p.facts != nil && len(n.State.Facts) > 0 {
			_, _ = p.facts.WriteAt(n.State.Facts, 0)
		}
		switch n.State.State {
		case counter.Ready:
			p.memory.SetReady()
		case counter.Failed:
			p.memory.Fail(n.State.Note)
		}
	case n.Exit != nil:
		go p.end(exitOf(*n.Exit))
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
		if p.memory != nil {
			_ = p.memory.Close() // mapped twice: nothing is lost
			p.memory = nil
		}
		p.exit = x
		close(p.done)
	})
}

// Pid is 0: no process of this host.
func (p *Process) Pid() int { return 0 }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how it ended; valid after Done.
func (p *Process) Exit() environment.Exit { return p.exit }

// Kill ends it, and returns without waiting for that.
func (p *Process) Kill() error {
	if environment.Ended(p) {
		return nil
	}
	_, err := p.link.ask(context.Background(), order{Kill: p.number}, askBound, nil)
	if environment.Ended(p) {
		return nil
	}
	return err
}
