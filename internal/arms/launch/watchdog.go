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

// watchdog is memory that tare shares with its guard. It has the deadline until which tare may be
// silent. When the deadline passes the guard claims it and freezes the arms. Store and claim are
// atomic, so both sides know which came first.
type watchdog struct {
	file  *os.File
	words *watchdogWords
}

type watchdogWords struct {
	deadline atomic.Int64  // CLOCK_BOOTTIME in ns, or claimed; 0: none yet
	frozen   atomic.Uint32 // 1: the guard has frozen the arms after a claim
}

// claimed replaces a deadline that has passed.
const claimed = -1

// watchdogBytes is a page, the smallest mapping.
const watchdogBytes = 4096

func newWatchdog() (*watchdog, error) {
	f, err := memfd.Create("tare-watchdog", nil)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(watchdogBytes); err != nil {
		f.Close()
		return nil, fmt.Errorf("size the memory shared with the guard: %w", err)
	}
	return mapWatchdog(f)
}

// mapWatchdog maps the file. On an error it closes the file.
func mapWatchdog(f *os.File) (*watchdog, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, watchdogBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map the memory shared with the guard: %w", err)
	}
	return &watchdog{f, (*watchdogWords)(unsafe.Pointer(&data[0]))}, nil
}

// close unmaps the memory. Do not use s after that.
func (s *watchdog) close() {
	_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(s.words)), watchdogBytes)) // it is mapped
	s.file.Close()
}

// allow sets the deadline to ns nanoseconds from now. late says that the guard had claimed the
// last deadline.
func (s *watchdog) allow(ns int64) (late bool) {
	return s.words.deadline.Swap(sched.Boottime()+ns) == claimed
}

// extend is allow, but keeps a deadline that was claimed.
func (s *watchdog) extend(ns int64) (late bool) {
	old := s.words.deadline.Load()
	return old == claimed || !s.words.deadline.CompareAndSwap(old, sched.Boottime()+ns) && s.late()
}

func (s *watchdog) late() bool { return s.words.deadline.Load() == claimed }

// claim claims a deadline that has passed, unless tare has set another one.
func (s *watchdog) claim(deadline int64) bool {
	s.words.frozen.Store(0)
	return s.words.deadline.CompareAndSwap(deadline, claimed)
}
