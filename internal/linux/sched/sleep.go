package sched

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps on the calling thread until a moment of Monotonic, and returns at once when that
// is past. The kernel's timer wakes this thread itself. After time.Sleep another thread of the Go
// runtime has to run first, and may wait for a CPU.
func SleepUntil(ns int64) {
	calls := [1]call{sleep(ns)}
	callUnpolled(calls[:], nil, 0)
}

// Mark holds the counters and clocks read at one moment.
type Mark struct {
	At  int64  // Monotonic, ns
	Sum uint64 // sum of MarkedSleep.Words
	CPU int64  // ProcessCPU, ns
}

// Edge is one of the two ends of a window.
type Edge int

// The edges.
const (
	Opening Edge = iota
	Closing
)

// EdgeReadings are the readings at the edges of a window, indexed by Edge. They are taken next to the
// marks there; an edge without readings has an empty list.
type EdgeReadings [2][]Reading

// Reading is one read during a MarkedSleep: of a file from its beginning into Text, or of a clock if
// Text is nil.
type Reading struct {
	FD   int // descriptor of the file, or number of the clock for clock_gettime(2)
	Text []byte
	// Got is the number of bytes read, or the clock in ns; below zero it is the negative errno.
	Got int64
}

// ClockOf returns the number of the clock of a process's CPU time, which ProcessCPUOf reads.
func ClockOf(pid int) int { return int(int32(^pid)<<3 | processClock) }

// entersyscallblock tells the Go runtime that this thread will block. Otherwise the runtime expects a
// short system call, and sysmon, its monitor thread, polls every 20 µs whether it is over: that took
// 1.5 % of a CPU from the measured loads.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// MarkedSleep sleeps until each of several moments and makes a mark at each. sysmon does not poll the
// thread meanwhile. A MarkedSleep that is used again allocates nothing.
type MarkedSleep struct {
	// First is the moment of the first mark, in ns of Monotonic. After are the moments of
	// the other marks, in ns after the actual time of the first mark.
	First int64
	After []int64
	// Latest is the moment (Monotonic, ns) after which the first mark is too late; 0: never.
	Latest int64
	Words  []*uint64 // counters to sum at each mark
	// Edges are taken right before the first mark (Opening) and right after the last (Closing).
	Edges EdgeReadings
	Marks []Mark // one for First and one for each of After

	calls []call
}

// call is one system call of a MarkedSleep.
type call struct {
	number uintptr
	fd     int // descriptor, or number of a clock
	text   []byte
	time   unix.Timespec
	after  int64 // of a sleep: ns from the first mark to its end; 0: it ends at time
	sums   bool  // sum the words right after this call
	sum    uint64
	got    int64 // as in Reading
}

// sleep is the call that sleeps until a moment of Monotonic.
func sleep(ns int64) call {
	return call{number: unix.SYS_CLOCK_NANOSLEEP, fd: unix.CLOCK_MONOTONIC, time: unix.NsecToTimespec(ns)}
}

// Sleep sleeps on the calling thread until each moment and makes the marks. If the first mark is
// later than Latest, Sleep ends there and returns false. The thread stays outside the Go scheduler
// until Sleep returns, so no mark waits for the runtime.
func (s *MarkedSleep) Sleep() (inTime bool) {
	s.calls = s.calls[:0]
	for i := range 1 + len(s.After) {
		c := sleep(s.First)
		if i > 0 {
			c.after = s.After[i-1]
		}
		s.calls = append(s.calls, c)
		if i == 0 {
			s.appendReads(Opening)
		}
		s.calls = append(s.calls, call{number: unix.SYS_CLOCK_GETTIME, fd: unix.CLOCK_MONOTONIC, sums: true},
			call{number: unix.SYS_CLOCK_GETTIME, fd: unix.CLOCK_PROCESS_CPUTIME_ID})
	}
	s.appendReads(Closing)
	callUnpolled(s.calls, s.Words, s.Latest)
	return s.results()
}

// appendReads appends the calls of the readings at an edge.
func (s *MarkedSleep) appendReads(e Edge) {
	for _, r := range s.Edges[e] {
		c := call{number: unix.SYS_PREAD64, fd: r.FD, text: r.Text}
		if r.Text == nil {
			c.number = unix.SYS_CLOCK_GETTIME
		}
		s.calls = append(s.calls, c)
	}
}

// results copies the results of the calls into Marks and Edges. It stops after the first mark if that
// is too late.
func (s *MarkedSleep) results() (inTime bool) {
	calls, marks := s.calls, s.Marks[:0:1+len(s.After)]
	for len(marks) < cap(marks) {
		calls = calls[1:] // the sleep
		if len(marks) == 0 {
			calls = s.readResults(calls, Opening)
		}
		marks = append(marks, Mark{At: calls[0].time.Nano(), Sum: calls[0].sum, CPU: calls[1].time.Nano()})
		calls = calls[2:]
		if s.Latest > 0 && marks[0].At > s.Latest {
			return false
		}
	}
	s.readResults(calls, Closing)
	return true
}

// readResults copies the results of the readings at an edge, and returns the calls after them.
func (s *MarkedSleep) readResults(calls []call, e Edge) []call {
	to := s.Edges[e]
	for i := range to {
		to[i].Got = calls[i].got
		if to[i].Text == nil && calls[i].got == 0 {
			to[i].Got = calls[i].time.Nano()
		}
	}
	return calls[len(to):]
}

// callUnpolled makes the system calls while sysmon does not poll the thread. The code must not need
// the runtime: it calls nosplit functions only, allocates nothing, uses no memory but that of its
// arguments, and writes no pointers. It reads the words without package atomic, which the race
// detector instruments; they are aligned, so one instruction reads a whole word. The stack frame
// must stay until exitsyscall returns. RawSyscall6 is in the source only once, so that the frame fits
// the nosplit stack without optimization (-N -l) too.
//
//go:nosplit
//go:norace
func callUnpolled(calls []call, words []*uint64, latest int64) {
	firstMark := int64(0) // time of the first mark, ns
	entersyscallblock()
	for i := range calls {
		c := &calls[i]
		pointer, size := uintptr(unsafe.Pointer(&c.time)), uintptr(0)
		switch {
		case c.text != nil:
			pointer, size = uintptr(unsafe.Pointer(unsafe.SliceData(c.text))), uintptr(len(c.text))
		case c.number == unix.SYS_CLOCK_NANOSLEEP:
			if c.after > 0 {
				c.time.Sec, c.time.Nsec = (firstMark+c.after)/1e9, (firstMark+c.after)%1e9
			}
			pointer, size = unix.TIMER_ABSTIME, pointer
		}
		for {
			n, _, errno := syscall.RawSyscall6(c.number, uintptr(c.fd), pointer, size, 0, 0, 0)
			if c.got = int64(n); errno != 0 {
				c.got = -int64(errno)
			}
			if errno != unix.EINTR {
				break
			}
		}
		if !c.sums {
			continue
		}
		c.sum = 0
		for k := range words {
			c.sum += *words[k]
		}
		if firstMark == 0 {
			if firstMark = c.time.Sec*1e9 + c.time.Nsec; latest > 0 && firstMark > latest {
				break
			}
		}
	}
	exitsyscall()
}
