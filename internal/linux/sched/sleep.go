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
	Marks(ns, nil, nil, nil, m[:])
}

// Mark is what Marks reads at a moment.
type Mark struct {
	At  int64  // Monotonic, ns
	Sum uint64 // of the words
	CPU int64  // ProcessCPU, ns
}

// Reading is a file that Marks reads from its begin into Text. N is how many bytes that
// were; below zero it is the negative number of the error.
type Reading struct {
	FD   int
	Text []byte
	N    int
}

// heldUp is what the readings of the first moment may take, in ns: the CPU was
// another's meanwhile, and they are taken anew, tries times at most.
const (
	heldUp = 200_000
	tries  = 3
)

// Go's runtime is told at once that the thread sleeps. It takes any other system call
// for one that is soon over, and looks every 20 µs whether it is, in a thread of its
// own: that took 1.5 % of a CPU beside the loads that are measured.
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// Marks sleeps on the calling thread until a moment of Monotonic, and then until so many ns
// after the mark that it made there, one after the other. It reads the clocks and the words
// right when it wakes up, into as many marks; at the first of them the files right before
// that. Go's runtime is away until the last of them: it is not asked for a turn at each, and
// wakes none of its threads.
// So nothing here may need it: no call that is not nosplit, no memory of the heap that
// is not held by the arguments, no pointer that is written. Words are read without
// package atomic, which has the race detector in it; they are aligned, and one reading
// is one instruction. The frame is there until exitsyscall returns.
//
//go:nosplit
//go:norace
func Marks(moment int64, after []int64, words []*uint64, files []Reading, marks []Mark) {
	marks = marks[:1+len(after)] // too few are found out while the runtime is there
	first := &marks[0]
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
			readNow(files)
		}
		marks[i].At, marks[i].Sum = now(unix.CLOCK_MONOTONIC), 0
		for k := range words {
			marks[i].Sum += *words[k]
		}
		marks[i].CPU = now(unix.CLOCK_PROCESS_CPUTIME_ID)
	}
	exitsyscall()
}

// readNow reads the files, for Marks.
//
//go:nosplit
//go:norace
func readNow(files []Reading) {
	for range tries {
		began := now(unix.CLOCK_MONOTONIC)
		for k := range files {
			f := &files[k]
			n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.FD), uintptr(unsafe.Pointer(unsafe.SliceData(f.Text))), uintptr(len(f.Text)), 0, 0, 0)
			f.N = int(n)
			if errno != 0 {
				f.N = -int(errno)
			}
		}
		if now(unix.CLOCK_MONOTONIC)-began <= heldUp {
			return
		}
	}
}

// now is clock, for Marks.
//
//go:nosplit
//go:norace
func now(id uintptr) int64 {
	var t unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0)
	return t.Sec*1e9 + t.Nsec
}
