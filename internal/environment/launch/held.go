package launch

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
)

// Held is a process that is no child of tare's: an environment.Running.
type Held struct {
	pid    int
	pidfd  int
	ground *Ground
	guard  *Guard
	ooms   uint64 // kills in the group before it was held
	done   chan struct{}
	exit   environment.Exit

	mu     sync.Mutex
	closed bool // pidfd
}

var _ environment.Running = (*Held)(nil)

// Hold holds the process of a visitor, to be ended with the arm and with tare.
// ended tells how it ended, once it has.
func (g *Ground) Hold(v *Visitor, ended func() environment.Exit) (*Held, error) {
	h := &Held{pid: v.Pid, ground: g, done: make(chan struct{})}
	h.ooms, _ = oomKills(g.Group)
	var err error
	if h.pidfd, err = unix.PidfdOpen(v.Pid, 0); err != nil {
		return nil, fmt.Errorf("hold the container's process: %w", err)
	}
	if h.guard, err = NewGuard(h.pidfd, g.Group); err != nil {
		err = errors.Join(err, h.Kill())
		unix.Close(h.pidfd)
		return nil, err
	}
	go h.await(ended)
	return h, g.track(h)
}

func (h *Held) await(ended func() environment.Exit) {
	defer close(h.done)
	p := []unix.PollFd{{Fd: int32(h.pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(p, -1); err != unix.EINTR {
			break
		}
	}
	// The engine removes the group, and the count with it, once it has noticed.
	kills, counted := oomKills(h.ground.Group)
	_ = h.guard.Close()
	h.mu.Lock()
	h.closed = true
	unix.Close(h.pidfd)
	h.mu.Unlock()
	h.exit = ended()
	if h.exit.Signal == "SIGKILL" && counted && kills > h.ooms {
		h.exit.OOM = true
	}
}

// Pid is the process as the host numbers it.
func (h *Held) Pid() int { return h.pid }

// Done is closed when it has ended.
func (h *Held) Done() <-chan struct{} { return h.done }

// Exit is how it ended; valid after Done.
func (h *Held) Exit() environment.Exit { return h.exit }

// Kill ends it, frozen or not.
func (h *Held) Kill() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	err := unix.PidfdSendSignal(h.pidfd, unix.SIGKILL, nil, 0)
	thaw(h.ground.Group)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
