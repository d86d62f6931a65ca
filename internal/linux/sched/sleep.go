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
	Marks([]int64{ns}, nil, m[:])
}

// Mark is what Marks reads at a moment.
type Mark struct {
	At  int64  // Monotonic, ns
	Sum uint64 // of the words
}

// Go's runtime is told at once that the thread sleeps. It takes any other system call
// for one that is soon over, and looks every 20 µs whether it is, in a thread of its
// own: that took 1.5 % of a CPU beside the loads that are measured.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// Marks sleeps on the calling thread until one moment of Monotonic after the other, and
// reads clock and words right when it wakes up, into as many marks. Go's runtime is away until
// the last of them: it is not asked for a turn at each, and wakes none of its threads.
// So nothing here may need it: no call that is not nosplit, no memory of the heap that
// is not held by the arguments, no pointer that is written. Words are read without
// package atomic, which has the race detector in it; they are aligned, and one reading
// is one instruction. The frame is there until exitsyscall returns.
//
//go:nosplit
//go:norace
func Marks(moments []int64, words []*uint64, marks []Mark) {
	marks = marks[:len(moments)] // too few are found out while the runtime is there
	entersyscallblock()
	for i := range moments {
		until := unix.Timespec{Sec: moments[i] / 1e9, Nsec: moments[i] % 1e9}
		for {
			_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&until)), 0, 0, 0)
			if errno != unix.EINTR {
				break
			}
		}
		var now unix.Timespec
		_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0)
		marks[i].At, marks[i].Sum = now.Sec*1e9+now.Nsec, 0
		for k := range words {
			marks[i].Sum += *words[k]
		}
	}
	exitsyscall()
}
