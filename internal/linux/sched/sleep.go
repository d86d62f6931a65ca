package sched

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps on the calling thread until a moment of Monotonic; one that
// has passed returns at once. The kernel's timer wakes the thread itself, with
// no other thread in between that would need a turn too.
func SleepUntil(ns int64) {
	var m [1]Mark
	(&Stay{Moment: ns, Marks: m[:]}).Sleep()
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

// Stay is a stretch in which Go's runtime is away from the thread.
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
}

// Sleep sleeps on the calling thread until one moment after the other, and reads the
// clocks and the words right when it wakes up. It ends with the first mark when it is too
// late for it, and says whether it was in time. Go's runtime is away until it returns: it
// is not asked for a turn at each moment, and wakes none of its threads. So nothing here
// may need it: no call that is not nosplit, no memory of the heap that is not held by the
// stay, no pointer that is written, no index that may be out of range. Words are read
// without package atomic, which has the race detector in it; they are aligned, and one
// reading is one instruction. The frame is there until exitsyscall returns.
//
//go:nosplit
//go:norace
func (s *Stay) Sleep() (inTime bool) {
	after, marks := s.After, s.Marks[:1+len(s.After)] // too few are found out while the runtime is there
	first, moment := &marks[0], s.Moment
	inTime = true
	entersyscallblock()
	for i := range marks {
		if i > 0 {
			moment = first.At + after[i-1]
		}
		until := unix.Timespec{Sec: moment / 1e9, Nsec: moment % 1e9}
		for {
			_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&until)), 0, 0, 0)
			if errno != unix.EINTR {
				break
			}
		}
		if i == 0 {
			read(s.Open)
		}
		m := &marks[i]
		m.At, m.Sum = now(unix.CLOCK_MONOTONIC), 0
		for k := range s.Words {
			m.Sum += *s.Words[k]
		}
		m.CPU = now(unix.CLOCK_PROCESS_CPUTIME_ID)
		if i == 0 && s.Latest > 0 && m.At > s.Latest {
			inTime = false
			break
		}
	}
	if inTime {
		read(s.Shut)
	}
	exitsyscall()
	return inTime
}

// read takes readings, for Sleep.
//
//go:nosplit
//go:norace
func read(all []Reading) {
	for k := range all {
		r := &all[k]
		if r.Text == nil {
			r.Got = now(uintptr(r.FD))
			continue
		}
		for {
			n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(r.FD), uintptr(unsafe.Pointer(unsafe.SliceData(r.Text))), uintptr(len(r.Text)), 0, 0, 0)
			if r.Got = int64(n); errno != 0 {
				r.Got = -int64(errno)
			}
			if errno != unix.EINTR {
				break
			}
		}
	}
}

// now is clock, for Sleep; below zero it is the negative number of the error.
//
//go:nosplit
//go:norace
func now(id uintptr) int64 {
	var t unix.Timespec
	_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0, 0, 0, 0)
	if errno != 0 {
		return -int64(errno)
	}
	return t.Sec*1e9 + t.Nsec
}
