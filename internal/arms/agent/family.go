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

// descendant is a descendant of the agent.
type descendant struct {
	pid     int
	group   int    // process group
	stopped bool   // all its threads are stopped, or it has ended
	memory  uint64 // anonymous and shared memory in bytes
}

// descendants are all descendants of the agent. The agent is the first process of a pod, so these
// are all processes of the pod but the one that connects the stream with the agent.
func descendants() []descendant {
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
	var all []descendant
	stoppedChild := map[int]bool{} // by pid of the parent
	for pid := range states {
		above := parents[pid]
		for above != self && above != 0 {
			above = parents[above]
		}
		if above != self {
			continue
		}
		r := descendant{pid: pid, stopped: isStopped(states[pid]) && everyThread(pid, isStopped)}
		if groups := strings.Fields(states[pid]["NSpgid"]); len(groups) > 0 {
			r.group, _ = strconv.Atoi(groups[0])
		}
		for _, key := range []string{"RssAnon", "RssShmem"} {
			n, _ := strconv.ParseUint(strings.TrimSuffix(states[pid][key], " kB"), 10, 64)
			r.memory += n << 10
		}
		all = append(all, r)
		stoppedChild[parents[pid]] = stoppedChild[parents[pid]] || r.stopped
	}
	for i, r := range all {
		all[i].stopped = r.stopped || stoppedChild[r.pid] && waitsToStop(r.pid, states[r.pid])
	}
	return all
}

// waitsToStop says whether a process that has got SIGSTOP and is not stopped cannot run either. Between
// vfork and exec a thread waits for its child and handles no signals: SIGSTOP is still pending for the
// process, or another thread has handled it and all other threads have stopped.
func waitsToStop(pid int, s proc.Status) bool {
	pending, err := strconv.ParseUint(s["ShdPnd"], 16, 64)
	if err != nil {
		return false
	}
	taken := false
	waits := func(thread proc.Status) bool {
		taken = taken || strings.HasPrefix(thread["State"], "T")
		return isStopped(thread) || strings.HasPrefix(thread["State"], "D")
	}
	return everyThread(pid, waits) && (taken || pending&(1<<(unix.SIGSTOP-1)) != 0)
}

// isStopped says whether a thread is stopped or has ended.
func isStopped(s proc.Status) bool {
	return s["State"] != "" && strings.ContainsRune("TtZX", rune(s["State"][0]))
}

// everyThread says whether wanted is true for each thread of a process.
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

// stopAll sends SIGSTOP to all descendants of the agent and returns when all are stopped. It repeats
// this for processes that were started meanwhile. After the time-out it lets all processes continue.
func (a *agent) stopAll(r request, _ []*os.File) (event, error) {
	const again = 500 * time.Microsecond
	a.stopping.Lock()
	defer a.stopping.Unlock()
	for end := time.Now().Add(*r.Stop); ; time.Sleep(again) {
		left := false
		for _, r := range descendants() {
			if !r.stopped {
				left = true
				_ = unix.Kill(r.pid, unix.SIGSTOP)
			}
		}
		if !left {
			return event{}, nil
		}
		if time.Now().After(end) {
			resume()
			return event{}, wire.ErrNotFrozen
		}
	}
}

func (a *agent) resumeAll(request, []*os.File) (event, error) {
	resume()
	return event{}, nil
}

// resume sends SIGCONT to all descendants of the agent.
func resume() {
	for _, r := range descendants() {
		_ = unix.Kill(r.pid, unix.SIGCONT)
	}
}

// endBound is how long killed processes may take to end. A process that is frozen in a
// control group of version 1 ends when it is thawed.
const endBound = 10 * time.Second

// endAll kills all descendants of the agent and returns when they are gone, or after within. It repeats
// this for processes that were started meanwhile. Processes that fork faster than it reads /proc are
// killed by their process group, or, in a pod of the agent alone, by a kill of all processes.
func (a *agent) endAll(within time.Duration) {
	self, group, end := os.Getpid(), unix.Getpgrp(), time.Now().Add(within)
	for again := time.Millisecond; !childless() && time.Now().Before(end); again = min(2*again, 50*time.Millisecond) {
		if a.alone && self == 1 {
			_ = unix.Kill(-1, unix.SIGKILL)
		}
		for _, r := range descendants() {
			_ = unix.Kill(r.pid, unix.SIGKILL)
			if r.group > 1 && r.group != group {
				_ = unix.Kill(-r.group, unix.SIGKILL)
			}
		}
		time.Sleep(again)
	}
}

// childless says whether the agent has no children. Orphans become children of the pod's
// first process, so the kernel's answer includes processes that a look at /proc misses.
func childless() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
}

// Bounds limit a process and its descendants; 0: no limit.
type Bounds struct {
	Memory uint64 // bytes of all together
	Pids   uint64 // processes
	CPU    uint64 // CPU time of one process in seconds
}

// boundEvery is how often the agent compares with the bounds: a pod cannot set limits for
// itself.
const boundEvery = 100 * time.Millisecond

// bound sets the limit of CPU time, which the kernel enforces. It watches the other bounds and kills the
// child if it exceeds one.
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
			if why := b.exceeded(descendants()); why != "" {
				c.why.Store(&why)
				_ = a.kill(c.number) // bury ends its descendants
				return
			}
		}
	}()
	return nil
}

// exceeded says which bound is exceeded; empty: none.
func (b Bounds) exceeded(all []descendant) string {
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

// stopper pauses all processes of a pod by signals.
type stopper struct{ link *Link }

var _ wire.Freezer = stopper{}

// Freezer stops and continues all processes of the pod but the agent.
func (l *Link) Freezer() wire.Freezer { return stopper{l} }

func (s stopper) Freeze(timeout time.Duration) error { return s.Confirm(timeout) }

// Ask does nothing: the agent answers a request to stop when all processes are stopped.
func (s stopper) Ask() error { return nil }

func (s stopper) Confirm(timeout time.Duration) error {
	return s.link.signal(request{Stop: &timeout}, timeout)
}

func (s stopper) Thaw() error { return s.link.signal(request{Resume: true}, 0) }

func (stopper) Kind() string { return "signals" }
