package steps

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Process kills a process if it is still the same. Its pid and its start time in clock ticks
// since boot, field 22 of /proc/PID/stat, identify a process within one boot of the machine.
type Process struct {
	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start_ticks,omitempty"`
}

// ProcessOf is the step for a process that runs already. Nothing undoes the process before the step is
// written: start it so that until then it ends together with tare.
func ProcessOf(pid int) (Process, error) {
	p, err := proc.FS("/").Process(pid)
	if err != nil {
		return Process{}, fmt.Errorf("journal: %w", err)
	}
	return Process{Pid: pid, Start: p.Start}, nil
}

// Kind is the word for it in a journal.
func (Process) Kind() string { return "process" }

// String names the pid.
func (p Process) String() string { return p.Kind() + " " + strconv.Itoa(p.Pid) }

// Lasts is false: a restart of the machine ends all processes.
func (Process) Lasts() bool { return false }

// Check refuses process 1, process groups (negative numbers) and a process without a start
// time.
func (p Process) Check(string) error {
	return journal.Own(p.Pid > 1 && p.Start > 0, "")
}

// Undo kills the process.
func (p Process) Undo(u *journal.Undoing) error {
	if u.StartUnknown {
		return hint.New(fmt.Errorf("process %d: the journal does not say which start of this machine it is of", p.Pid),
			"look whether it is tare's, and end it by hand")
	}
	return p.kill()
}

// killBound is how long Undo waits for a killed process to end.
const killBound = 2 * time.Second

// kill kills the process if it is the one of the step. While the pidfd is open no other process
// can get the pid.
func (p Process) kill() error {
	fd, err := unix.PidfdOpen(p.Pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", p.Pid, err)
	}
	defer unix.Close(fd)
	if now, err := ProcessOf(p.Pid); err != nil || now != p {
		return nil // it has ended, and its pid may be another process's
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", p.Pid, err)
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for end := time.Now().Add(killBound); time.Now().Before(end); {
		n, err := unix.Poll(poll, int(time.Until(end).Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for process %d: %w", p.Pid, err)
		}
	}
	return fmt.Errorf("process %d was killed and has not ended after %v", p.Pid, killBound)
}
