// Package sched gives one thread priority on a machine with saturated CPUs, and lets it sleep
// until a moment and read clocks, memory and files there. It knows threads and clocks and not
// what the thread does.
package sched

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// The priorities, best first. The real-time priority is low: above every ordinary thread, below
// the kernel's own important real-time threads (50 and up).
const (
	fifoPriority = 10
	leastNice    = -20
)

// The words for the priorities in the manifest.
const (
	fifo        = "SCHED_FIFO 10"
	nice        = "nice -20"
	unprotected = "unprotected"
)

// Protect locks the goroutine to its thread and gives the thread the best priority that this
// user may have: SCHED_FIFO, else nice -20, else none. how is one of the words above; err says
// why it is not the best, else it is nil. Threads and processes that this thread starts do not
// inherit the priority.
//
// undo restores everything and is never nil. Call it from the same goroutine.
func Protect() (how string, undo func(), err error) {
	runtime.LockOSThread()
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return unprotected, runtime.UnlockOSThread, fmt.Errorf("read the scheduling of the thread: %w", err)
	}
	slack := setSlack(1)
	undo = func() {
		restore(*before)
		setSlack(slack)
		runtime.UnlockOSThread()
	}
	fifoErr := setFIFO()
	if fifoErr == nil {
		return fifo, undo, nil
	}
	if err := setNice(*before); err == nil {
		return nice, undo, fifoErr
	}
	return unprotected, undo, fifoErr
}

func setFIFO() error {
	a := unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: fifoPriority,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}
	err := set(a)
	if err == unix.EPERM && unix.Geteuid() == 0 {
		return fmt.Errorf("set %s: %w (no CAP_SYS_NICE, or the cpu control group of this process has a cpu.rt_runtime_us of 0)", fifo, err)
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", fifo, err)
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

// restore restores the scheduling of the thread. Without privilege the flag
// SCHED_FLAG_RESET_ON_FORK cannot be cleared; it stays then.
func restore(before unix.SchedAttr) {
	before.Runtime = 0 // runtime is for deadline threads; 0 is the default slice
	if unix.SchedSetAttr(0, &before, 0) != nil {
		before.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
		_ = unix.SchedSetAttr(0, &before, 0)
	}
}

// setSlack sets the timer slack of the thread in ns, by which the kernel may delay its timers
// to wake several at once, and returns the former slack. 0 sets the thread's default, usually
// 50 µs. Real-time threads have no slack.
func setSlack(ns uintptr) uintptr {
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0) != nil {
		return 0
	}
	return uintptr(before)
}

// Monotonic is CLOCK_MONOTONIC in ns. It never jumps, and stands still while the machine is
// suspended. SleepUntil uses this clock.
func Monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

// Boottime is CLOCK_BOOTTIME in ns: Monotonic plus the time of suspensions. Changes of the wall
// clock have no effect on either.
func Boottime() int64 { return clock(unix.CLOCK_BOOTTIME) }

// SleepUntilBoottime sleeps on the calling thread until a moment of Boottime; the time of a
// suspension counts.
func SleepUntilBoottime(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_BOOTTIME, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// ThreadCPU is the CPU time of the calling thread in ns.
func ThreadCPU() int64 { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessCPU is the CPU time of this process in ns, with ended threads and without child
// processes.
func ProcessCPU() int64 { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// ProcessCPUOf is ProcessCPU of another process, of any user. It is the scheduler's own count,
// where /proc/PID/stat has steps of 10 ms.
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
