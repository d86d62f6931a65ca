package sched

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps on the calling thread until a moment of Monotonic, and returns at once
// when it has passed. The kernel's timer wakes this thread itself; a sleep of Go would need
// a turn of another thread first.
func SleepUntil(ns int64) {
	calls := [1]call{sleep(ns)}
	unwatched(calls[:], nil, 0)
}

// Mark is what a thread reads at a moment.
type Mark struct {
	At  int64  // Monotonic, ns
	Sum uint64 // of the words
	CPU int64  // ProcessCPU, ns
}

// Edge is an end of a window.
type Edge int

// The edges.
const (
	Opening Edge = iota
	Closing
)

// EdgeReadings are the readings at the edges of a window, indexed by Edge. They are taken
// in the same moments as the marks there; an edge without readings has an empty list.
type EdgeReadings [2][]Reading

// Reading is what a thread reads while Go's runtime does not watch it: a file from its
// beginning, into Text, or a clock, where Text is nil.
type Reading struct {
	FD   int // descriptor of the file, or number of the clock for clock_gettime(2)
	Text []byte
	// Got is the number of bytes read, or the clock in ns; below zero it is the negative
	// number of the error.
	Got int64
}

// ClockOf is the number of the clock that ProcessCPUOf reads.
func ClockOf(pid int) int { return int(int32(^pid)<<3 | processClock) }

// entersyscallblock tells Go's runtime that the thread will sleep. Before any other system
// call the runtime expects it to be short, and a thread of the runtime looks every 20 µs
// whether it is over: that took 1.5 % of a CPU beside the measured loads.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// MarkedSleep sleeps from moment to moment and makes a mark at each. Go's runtime does not
// watch the thread meanwhile. A MarkedSleep that is used again allocates nothing.
type MarkedSleep struct {
	// First is the moment of the first mark, in ns of Monotonic. After are the moments of
	// the other marks, in ns after the first mark was really made.
	First int64
	After []int64
	// Latest is the moment (Monotonic, ns) after which the first mark is too late; 0: never.
	Latest int64
	Words  []*uint64
	// Edges are taken right before the first mark (Opening) and right after the last (Closing).
	Edges EdgeReadings
	Marks []Mark // one for First and one for each of After

	calls []call
}

// call is one system call of a MarkedSleep.
type call struct {
	number uintptr
	on     int // descriptor, or number of a clock
	text   []byte
	time   unix.Timespec
	after  int64 // of a sleep: ns from the first mark to its end; 0: the end is time
	marks  bool  // read the words right after this call
	sum    uint64
	got    int64 // as in Reading
}

// sleep is the call that sleeps until a moment of Monotonic.
func sleep(ns int64) call {
	return call{number: unix.SYS_CLOCK_NANOSLEEP, on: unix.CLOCK_MONOTONIC, time: unix.NsecToTimespec(ns)}
}

// Sleep sleeps on the calling thread until each moment and makes the marks. When the first
// mark is too late it ends there and returns false. Go's runtime does not watch the thread
// until Sleep returns, so no moment waits for a turn from the runtime.
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
		s.calls = append(s.calls, call{number: unix.SYS_CLOCK_GETTIME, on: unix.CLOCK_MONOTONIC, marks: true},
			call{number: unix.SYS_CLOCK_GETTIME, on: unix.CLOCK_PROCESS_CPUTIME_ID})
	}
	s.appendReads(Closing)
	unwatched(s.calls, s.Words, s.Latest)
	return s.results()
}

// appendReads appends the calls of the readings at an edge.
func (s *MarkedSleep) appendReads(e Edge) {
	for _, r := range s.Edges[e] {
		c := call{number: unix.SYS_PREAD64, on: r.FD, text: r.Text}
		if r.Text == nil {
			c.number = unix.SYS_CLOCK_GETTIME
		}
		s.calls = append(s.calls, c)
	}
}

// results copies the calls' results into Marks and Edges, up to a first mark that is too late.
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

// unwatched makes the calls while Go's runtime does not watch the thread. Nothing here may
// need the runtime: it calls only nosplit functions, allocates nothing, uses no memory but
// what the arguments hold, and writes no pointers. It reads the words without package
// atomic, which the race detector instruments; they are aligned, so one instruction reads a
// word whole. The stack frame must last until exitsyscall returns. There is a single system
// call in the text, so that the stack is large enough without optimization (-N -l) too.
//
//go:nosplit
//go:norace
func unwatched(calls []call, words []*uint64, latest int64) {
	first := int64(0) // mark
	entersyscallblock()
	for i := range calls {
		c := &calls[i]
		pointer, size := uintptr(unsafe.Pointer(&c.time)), uintptr(0)
		switch {
		case c.text != nil:
			pointer, size = uintptr(unsafe.Pointer(unsafe.SliceData(c.text))), uintptr(len(c.text))
		case c.number == unix.SYS_CLOCK_NANOSLEEP:
			if c.after > 0 {
				c.time.Sec, c.time.Nsec = (first+c.after)/1e9, (first+c.after)%1e9
			}
			pointer, size = unix.TIMER_ABSTIME, pointer
		}
		for {
			n, _, errno := syscall.RawSyscall6(c.number, uintptr(c.on), pointer, size, 0, 0, 0)
			if c.got = int64(n); errno != 0 {
				c.got = -int64(errno)
			}
			if errno != unix.EINTR {
				break
			}
		}
		if !c.marks {
			continue
		}
		c.sum = 0
		for k := range words {
			c.sum += *words[k]
		}
		if first == 0 {
			if first = c.time.Sec*1e9 + c.time.Nsec; latest > 0 && first > latest {
				break
			}
		}
	}
	exitsyscall()
}
