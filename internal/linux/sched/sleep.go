package sched

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps on the calling thread until a moment of Monotonic; one that
// has passed returns at once. The kernel's timer wakes the thread itself, with
// no other thread in between that would need a turn too.
func SleepUntil(ns int64) {
	calls := [1]call{sleep(ns)}
	away(calls[:], nil, 0)
}

// Mark is what was read at a moment.
type Mark struct {
	At  int64  // Monotonic, ns
	Sum uint64 // of the words
	CPU int64  // ProcessCPU, ns
}

// Reading is what a thread reads while Go's runtime is away: a file, from its beginning
// into Text, or, where Text is nil, a clock. Got is how many bytes there were, or the
// clock's ns; below zero it is the negative number of the error.
type Reading struct {
	FD   int // of the file, or the number of the clock: clock_gettime(2)
	Text []byte
	Got  int64
}

// ClockOf is the number of the clock that ProcessCPUOf reads.
func ClockOf(pid int) int { return int(int32(^pid)<<3 | processClock) }

// Go's runtime is told at once that the thread sleeps. It takes any other system call
// for one that is soon over, and looks every 20 µs whether it is, in a thread of its
// own: that took 1.5 % of a CPU beside the loads that are measured.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// Stay is a stretch in which Go's runtime is away from the thread. One that is used again
// needs no new memory.
type Stay struct {
	// Moment is that of the first mark (Monotonic, ns). The others are made so many ns
	// after the first one, whenever it was made.
	Moment int64
	After  []int64
	// Latest is when it is too late for the first mark; 0: never.
	Latest int64
	Words  []*uint64
	// Open is read right before the first mark, Shut right after the last.
	Open, Shut []Reading
	Marks      []Mark // one for Moment and one for each of After

	calls []call
}

// call is one system call of a stay.
type call struct {
	number uintptr
	on     int // descriptor, or number of a clock
	text   []byte
	time   unix.Timespec
	after  int64 // a sleep until so long after the first mark; 0: until time
	marks  bool  // the words are read right after it
	sum    uint64
	got    int64 // as in Reading
}

// sleep is the call that sleeps until then.
func sleep(ns int64) call {
	return call{number: unix.SYS_CLOCK_NANOSLEEP, on: unix.CLOCK_MONOTONIC, time: unix.NsecToTimespec(ns)}
}

// Sleep sleeps on the calling thread until one moment after the other, and reads the
// clocks and the words right when it wakes up. It ends with the first mark when it is too
// late for it, and says whether it was in time. Go's runtime is away until it returns: it
// is not asked for a turn at each moment, and wakes none of its threads.
func (s *Stay) Sleep() (inTime bool) {
	s.calls = s.calls[:0]
	for i := range 1 + len(s.After) {
		c := sleep(s.Moment)
		if i > 0 {
			c.after = s.After[i-1]
		}
		s.calls = append(s.calls, c)
		if i == 0 {
			s.ask(s.Open)
		}
		s.calls = append(s.calls, call{number: unix.SYS_CLOCK_GETTIME, on: unix.CLOCK_MONOTONIC, marks: true},
			call{number: unix.SYS_CLOCK_GETTIME, on: unix.CLOCK_PROCESS_CPUTIME_ID})
	}
	s.ask(s.Shut)
	away(s.calls, s.Words, s.Latest)
	return s.answer()
}

// ask appends the calls of readings.
func (s *Stay) ask(all []Reading) {
	for _, r := range all {
		c := call{number: unix.SYS_PREAD64, on: r.FD, text: r.Text}
		if r.Text == nil {
			c.number = unix.SYS_CLOCK_GETTIME
		}
		s.calls = append(s.calls, c)
	}
}

// answer takes the calls' results to where they are asked for, and says whether there are
// all of them.
func (s *Stay) answer() (inTime bool) {
	calls, marks := s.calls, s.Marks[:0:1+len(s.After)]
	for len(marks) < cap(marks) {
		calls = calls[1:]
		if len(marks) == 0 {
			calls = results(calls, s.Open)
		}
		marks = append(marks, Mark{At: calls[0].time.Nano(), Sum: calls[0].sum, CPU: calls[1].time.Nano()})
		calls = calls[2:]
		if s.Latest > 0 && marks[0].At > s.Latest {
			return false
		}
	}
	results(calls, s.Shut)
	return true
}

// results takes those of the readings from the calls, and returns the other calls.
func results(calls []call, to []Reading) []call {
	for i := range to {
		to[i].Got = calls[i].got
		if to[i].Text == nil && calls[i].got == 0 {
			to[i].Got = calls[i].time.Nano()
		}
	}
	return calls[len(to):]
}

// away makes the calls, while Go's runtime is away. So nothing here may need it: no call
// that is not nosplit, no memory of the heap that is not held by the arguments, no pointer
// that is written. Words are read without package atomic, which has the race detector in it;
// they are aligned, and one reading is one instruction. The frame is there until
// exitsyscall returns; there is one system call in it, so that the stack is enough for
// what a debugger wants to have compiled (-N -l), too.
//
//go:nosplit
//go:norace
func away(calls []call, words []*uint64, latest int64) {
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
