package launch

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/linux/sched"
)

// silence is memory that tare shares with its guard. tare writes into it until when it may
// say nothing; past that the guard claims the deadline and freezes the arms. Of a store and
// a claim at the same time one comes first, and both sides see which.
type silence struct {
	file  *os.File
	words *silenceWords
}

type silenceWords struct {
	deadline atomic.Int64  // CLOCK_BOOTTIME, ns; 0: none yet; claimed
	frozen   atomic.Uint32 // 1: the guard has done what follows a claim
}

// claimed is the deadline after the guard found that it had passed.
const claimed = -1

// silenceBytes is a page: the kernel maps no less.
const silenceBytes = 4096

func newSilence() (*silence, error) {
	f, err := memfd.Create("tare-silence", nil)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(silenceBytes); err != nil {
		f.Close()
		return nil, fmt.Errorf("size the memory shared with the guard: %w", err)
	}
	return mapSilence(f)
}

// mapSilence maps the file, which it closes on an error.
func mapSilence(f *os.File) (*silence, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, silenceBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map the memory shared with the guard: %w", err)
	}
	return &silence{f, (*silenceWords)(unsafe.Pointer(&data[0]))}, nil
}

// close unmaps it. Nobody may use it any longer.
func (s *silence) close() {
	_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(s.words)), silenceBytes)) // it is mapped
	s.file.Close()
}

// allow sets the deadline so many ns from now, and says whether the guard had claimed the
// last one.
func (s *silence) allow(ns int64) (late bool) {
	return s.words.deadline.Swap(sched.Boottime()+ns) == claimed
}

// extend is allow, but leaves a deadline that was claimed as it is.
func (s *silence) extend(ns int64) (late bool) {
	old := s.words.deadline.Load()
	return old == claimed || !s.words.deadline.CompareAndSwap(old, sched.Boottime()+ns) && s.late()
}

func (s *silence) late() bool { return s.words.deadline.Load() == claimed }

// claim takes a deadline that has passed, unless there is another one meanwhile.
func (s *silence) claim(deadline int64) bool {
	s.words.frozen.Store(0)
	return s.words.deadline.CompareAndSwap(deadline, claimed)
}
