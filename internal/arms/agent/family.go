package agent

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/wire"
)

// relative is a process that descends from the agent.
type relative struct {
	pid     int
	group   int    // of processes
	stopped bool   // with all its threads, or it has ended
	memory  uint64 // of its own, in bytes
}

// family are all processes that descend from the agent. In a pod, whose first process
// it is, these are all but the one that leads the stream to it.
func family() []relative {
	fs := proc.FS("/")
	names, _ := os.ReadDir("/proc")
	parents, states := map[int]int{}, map[int]proc.Status{}
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		s, err := fs.Status(pid)
		if err != nil {
			continue // it has ended
		}
		parents[pid], _ = strconv.Atoi(s["PPid"])
		states[pid] = s
	}
	self := os.Getpid()
	var all []relative
	held := map[int]bool{} // who has a child that is stopped
	for pid := range states {
		above := parents[pid]
		for above != self && above != 0 {
			above = parents[above]
		}
		if above != self {
			continue
		}
		r := relative{pid: pid, stopped: rests(states[pid]) && everyThread(pid, rests)}
		if groups := strings.Fields(states[pid]["NSpgid"]); len(groups) > 0 {
			r.group, _ = strconv.Atoi(groups[0])
		}
		for _, key := range []string{"RssAnon", "RssShmem"} {
			n, _ := strconv.ParseUint(strings.TrimSuffix(states[pid][key], " kB"), 10, 64)
			r.memory += n << 10
		}
		all = append(all, r)
		held[parents[pid]] = held[parents[pid]] || r.stopped
	}
	for i, r := range all {
		all[i].stopped = r.stopped || held[r.pid] && waitsToStop(r.pid, states[r.pid])
	}
	return all
}

// waitsToStop says whether a process can do nothing before it stops: between vfork
// and exec a thread waits for its child, whatever its signals are. The signal is still
// there for the process, or another thread has taken it and all the others have stopped.
func waitsToStop(pid int, s proc.Status) bool {
	pending, err := strconv.ParseUint(s["ShdPnd"], 16, 64)
	if err != nil {
		return false
	}
	taken := false
	waits := func(thread proc.Status) bool {
		taken = taken || strings.HasPrefix(thread["State"], "T")
		return rests(thread) || strings.HasPrefix(thread["State"], "D")
	}
	return everyThread(pid, waits) && (taken || pending&(1<<(unix.SIGSTOP-1)) != 0)
}

// rests says whether a thread is stopped, or over.
func rests(s proc.Status) bool {
	return s["State"] != "" && strings.ContainsRune("TtZX", rune(s["State"][0]))
}

// everyThread says whether each thread of a process is as wanted.
func everyThread(pid int, wanted func(proc.Status) bool) bool {
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		return true // it has ended
	}
	for _, n := range names {
		text, err := os.ReadFile(dir + n.Name() + "/status")
		if err == nil && !wanted(proc.ParseStatus(text)) {
			return false
		}
	}
	return true
}

// stop stops everything that the agent has started, with all that came of it, by
// SIGSTOP, and returns when all of it is stopped. What is begun meanwhile is found by
// looking again. What does not stop in time goes on.
func (a *agent) stop(timeout time.Duration) error {
	const again = 500 * time.Microsecond
	a.stopping.Lock()
	defer a.stopping.Unlock()
	for end := time.Now().Add(timeout); ; time.Sleep(again) {
		left := false
		for _, r := range family() {
			if !r.stopped {
				left = true
				_ = unix.Kill(r.pid, unix.SIGSTOP)
			}
		}
		if !left {
			return nil
		}
		if time.Now().After(end) {
			resume()
			return wire.ErrNotFrozen
		}
	}
}

// resume lets it go on.
func resume() {
	for _, r := range family() {
		_ = unix.Kill(r.pid, unix.SIGCONT)
	}
}

// endBound is how long killed processes may take to end. What is frozen in a control
// group of version 1 does not end before it is thawed.
const endBound = 10 * time.Second

// endAll ends everything that the agent has started, with all that came of it, and
// returns when it is gone, or when the time is over. What is begun meanwhile is found by
// looking again; what forks faster than one can look, by its process group, in which it
// stays, or because nothing else is there.
func (a *agent) endAll(within time.Duration) {
	self, group, end := os.Getpid(), unix.Getpgrp(), time.Now().Add(within)
	for again := time.Millisecond; !childless() && time.Now().Before(end); again = min(2*again, 50*time.Millisecond) {
		if a.apart && self == 1 {
			_ = unix.Kill(-1, unix.SIGKILL)
		}
		for _, r := range family() {
			_ = unix.Kill(r.pid, unix.SIGKILL)
			if r.group > 1 && r.group != group {
				_ = unix.Kill(-r.group, unix.SIGKILL)
			}
		}
		time.Sleep(again)
	}
}

// childless says whether nothing is left of what was started. The kernel knows it, where
// a look at /proc may miss what forks meanwhile: who loses its parent becomes a child of a
// pod's first process.
func childless() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
}

// Bounds are what a process may use with all that comes of it; 0: anything.
type Bounds struct {
	Memory, Pids uint64
	CPU          uint64 // CPU time of one process in seconds
}

// boundEvery is how often it is looked whether they are kept: a pod may set no limits
// to itself.
const boundEvery = 100 * time.Millisecond

// bound has the kernel end a process after its CPU time, and ends the child where it
// has more than it may have.
func (a *agent) bound(c *child, b Bounds) error {
	if b.CPU > 0 {
		if err := unix.Prlimit(c.pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: b.CPU, Max: b.CPU}, nil); err != nil {
			return errors.Join(fmt.Errorf("bound a process: %w", err), unix.Kill(c.pid, unix.SIGKILL))
		}
	}
	go func() {
		for {
			select {
			case <-c.done:
				return
			case <-time.After(boundEvery):
			}
			if why := b.exceeded(family()); why != "" {
				c.why.Store(&why)
				_ = a.kill(c.number) // what came of it ends with it
				return
			}
		}
	}()
	return nil
}

// exceeded says what is more than it may be.
func (b Bounds) exceeded(all []relative) string {
	memory := uint64(0)
	for _, r := range all {
		memory += r.memory
	}
	switch {
	case b.Memory > 0 && memory > b.Memory:
		return fmt.Sprintf("ended by tare: it held %d bytes of memory, and its limit is %d", memory, b.Memory)
	case b.Pids > 0 && uint64(len(all)) > b.Pids:
		return fmt.Sprintf("ended by tare: it was %d processes, and its limit is %d", len(all), b.Pids)
	}
	return ""
}

// stopper pauses everything in a pod by signals.
type stopper struct{ link *Link }

var _ wire.Freezer = stopper{}

// Freezer stops and continues everything in the pod but the agent.
func (l *Link) Freezer() wire.Freezer { return stopper{l} }

func (s stopper) Freeze(timeout time.Duration) error {
	return s.link.signal(request{Stop: &timeout}, timeout)
}

func (s stopper) Thaw() error { return s.link.signal(request{Resume: true}, 0) }

// Kind says how.
func (stopper) Kind() string { return "signals" }
