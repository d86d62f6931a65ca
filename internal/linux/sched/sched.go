// Package sched keeps one thread's turn on a machine whose CPUs are saturated,
// and lets it sleep until a moment and read clocks, words and files right then. It
// knows threads and clocks and nothing of what the thread does with its turn.
package sched

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// The turns, best first. A low real-time priority is above every ordinary
// thread and below the kernel's own real-time threads that matter (50 and up).
const (
	fifoPriority = 10
	leastNice    = -20
)

// Words for the turns.
const (
	FIFO        = "SCHED_FIFO 10"
	Nice        = "nice -20"
	Unprotected = "unprotected"
)

// Protect locks the goroutine to its thread and gives the thread the best turn
// that this user may have: SCHED_FIFO, else nice -20, else none. how is one of
// the words above; err says why it is not the best one, and is nil otherwise.
// Threads and processes that this thread starts do not inherit the turn.
//
// undo gives everything back and is never nil. It must be called by the same
// goroutine.
func Protect() (how string, undo func(), err error) {
	runtime.LockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return Unprotected, runtime.UnlockOSThread, fmt.Errorf("read the scheduling of the thread: %w", err)
	}
	slack := setSlack(1)
	undo = func() {
		restore(*before)
		setSlack(slack)
		runtime.UnlockOSThread()
	}
	fifoErr := setFIFO()
	if fifoErr == nil {
		return FIFO, undo, nil
	}
	if err := setNice(*before); err == nil {
		return Nice, undo, fifoErr
	}
	return Unprotected, undo, fifoErr
}

func setFIFO() error {
	a := unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: fifoPriority,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}
	err := set(a)
	if err == unix.EPERM && unix.Geteuid() == 0 {
		return fmt.Errorf("set %s: %w (no CAP_SYS_NICE, or the cpu control group of this process has a cpu.rt_runtime_us of 0)", FIFO, err)
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", FIFO, err)
	}
	return nil
}

func setNice(before unix.SchedAttr) error {
	a := before
	a.Nice = leastNice
	a.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	return set(a)
}

// set sets the scheduling of the thread and reads it back.
func set(a unix.SchedAttr) error {
	if err := unix.SchedSetAttr(0, &a, 0); err != nil {
		return err
	}
	got, err := unix.SchedGetAttr(0, 0)
	if err == nil && (got.Policy != a.Policy || got.Priority != a.Priority || got.Nice != a.Nice) {
		err = fmt.Errorf("did not take: policy %d, priority %d, nice %d", got.Policy, got.Priority, got.Nice)
	}
	return err
}

// restore gives the thread its scheduling back. A user without privilege may
// not take the flag back that its children start over; it stays then.
func restore(before unix.SchedAttr) {
	before.Runtime = 0 // of an ordinary thread: the default slice
	if unix.SchedSetAttr(0, &before, 0) != nil {
		before.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
		_ = unix.SchedSetAttr(0, &before, 0)
	}
}

// setSlack sets by how many ns the kernel may put off the thread's timers, to
// wake several at once (0 is the thread's default, mostly 50 us), and returns
// what it was. Real-time threads have none.
func setSlack(ns uintptr) uintptr {
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0) != nil {
		return 0
	}
	return uintptr(before)
}

// Monotonic is CLOCK_MONOTONIC in ns: it never jumps and stands still while the
// machine is suspended. It is the clock of SleepUntil.
func Monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

// Boottime is CLOCK_BOOTTIME in ns: Monotonic, and the time for which the machine was
// suspended. A step of the wall clock changes neither.
func Boottime() int64 { return clock(unix.CLOCK_BOOTTIME) }

// SleepUntilBoottime sleeps on the calling thread until a moment of Boottime, which also
// passes while the machine is suspended.
func SleepUntilBoottime(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_BOOTTIME, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// ThreadCPU is the CPU time of the calling thread in ns, up to now.
func ThreadCPU() int64 { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessCPU is the CPU time of this process in ns, up to now, ended threads
// included and children not.
func ProcessCPU() int64 { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// ProcessCPUOf is ProcessCPU of another process, any user's. It is as fine as
// the scheduler's own count, where /proc/PID/stat has steps of 10 ms.
func ProcessCPUOf(pid int) (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(ClockOf(pid)), &ts); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return ts.Nano(), nil
}

// processClock is CPUCLOCK_SCHED of a whole process, see clock_getcpuclockid(3).
const processClock = 2

// clock reads a clock that exists on every Linux.
func clock(id int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return ts.Nano()
}
