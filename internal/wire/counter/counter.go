// Package counter is the shared memory in which a load counts operations, errors and latencies. tare
// reads it at the beginning and at the end of a window of any length, without restarting or asking
// the load. The package knows layout and memory order; it does not know what an operation is.
//
// Each slot has one writer (a thread of the load) and one reader (the rotation, the part of tare
// that runs the windows). All words are naturally aligned and written by sync/atomic. Counters have
// 64 bits; words on which a process can wait (futexes) have 32.
package counter

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/record"
)

const (
	magic     = 0x3165726174 // "tare1", little endian
	pageBytes = 4096
	// A slot starts with 128 bytes of counters: two cache lines, because the adjacent-line
	// prefetcher of x86 would otherwise share a line between two threads.
	slotHead  = 128
	slotBytes = (slotHead + record.Buckets*8 + pageBytes - 1) / pageBytes * pageBytes
	noteBytes = 1024
)

// MaxThreads is the largest number of slots.
const MaxThreads = 4096

// The states of a load.
const (
	Starting uint64 = iota // not yet ready
	Ready                  // warmed up, counting
	Failed                 // gave up; the note says why
)

// header is the first page. The load writes state, note, answer and values; the rotation writes gate,
// holds, thawed, seed and ask.
type header struct {
	magic  uint64
	slots  uint64
	state  atomic.Uint64
	gate   atomic.Uint32 // futex; 1: the load starts no operation
	holds  atomic.Uint32 // 1: the load closes the gate when it is ready
	thawed atomic.Int64  // CLOCK_MONOTONIC ns of the last thaw
	epoch  atomic.Int64  // CLOCK_REALTIME minus CLOCK_MONOTONIC of the creator, ns
	space  atomic.Uint64 // inode of the creator's time namespace; 0: unknown
	seed   atomic.Uint64 // of an open loop's arrivals
	noted  atomic.Uint64 // length of note
	note   [noteBytes]byte
	ask    ask
	answer answer
	values [MaxValues]sum
}

// Slot has the counters of one thread of the load, its only writer.
type Slot struct {
	ops     atomic.Uint64
	errors  atomic.Uint64
	cut     atomic.Uint64 // operations during which the load was paused
	late    atomic.Uint64 // open loop: started more than 1 ms after the intended time
	backlog atomic.Uint64 // open loop: arrivals that wait now
	busy    atomic.Uint64 // 1 while an operation is in flight
	_       [slotHead - 6*8]byte
	buckets [record.Buckets]atomic.Uint64
}

// Memory is the mapped segment.
type Memory struct {
	file *os.File
	data []byte
	head *header
	base time.Time // a moment on the clock of the Go runtime
	mono int64     // CLOCK_MONOTONIC of the creator at the moment base, ns

	// Not shared: stopped says that this process was told to end, failed that it called Fail.
	stopped, failed atomic.Bool
}

// Create makes a segment with one slot per thread in an anonymous file, whose descriptor the load
// inherits. The kernel removes it when all its processes have ended.
func Create(threads int) (*Memory, error) {
	if threads < 1 || threads > MaxThreads {
		return nil, fmt.Errorf("shared counters for %d threads: want 1 to %d", threads, MaxThreads)
	}
	f, err := memfd.Create("tare-counters", nil)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(pageBytes + threads*slotBytes)); err != nil {
		f.Close()
		return nil, fmt.Errorf("size shared counters: %w", err)
	}
	m, err := mapFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	m.head.magic, m.head.slots = magic, uint64(threads)
	epoch, err := m.epoch()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.head.epoch.Store(epoch)
	m.head.space.Store(timeSpace())
	return m, nil
}

// Open maps the segment in the inherited file f.
func Open(f *os.File) (*Memory, error) {
	m, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	slots := m.head.slots
	if m.head.magic != magic || slots > MaxThreads || len(m.data) != pageBytes+int(slots)*slotBytes {
		unix.Munmap(m.data)
		return nil, errors.New("inherited descriptor holds no shared counters of this version of tare")
	}
	if err := m.shareClock(); err != nil {
		unix.Munmap(m.data)
		return nil, err
	}
	return m, nil
}

func mapFile(f *os.File) (*Memory, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("shared counters: %w", err)
	}
	if st.Size() < pageBytes+slotBytes {
		return nil, errors.New("inherited descriptor is too small for shared counters")
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map shared counters: %w", err)
	}
	m := &Memory{file: f, data: data, head: (*header)(unsafe.Pointer(&data[0]))}
	if err := m.setClock(); err != nil {
		unix.Munmap(data)
		return nil, err
	}
	return m, nil
}

// setClock relates the clock of the Go runtime, which needs no system call, to CLOCK_MONOTONIC.
func (m *Memory) setClock() (err error) {
	m.base, m.mono, err = readClock(unix.CLOCK_MONOTONIC)
	return err
}

// readClock reads a clock of the kernel, in ns, and the moment of the reading. It takes the best of
// several tries: if the process lost the CPU or was frozen between the readings, all later times
// would be wrong by as much.
func readClock(id int32) (at time.Time, ns int64, err error) {
	const tight, tries = 2 * time.Microsecond, 100
	best := time.Duration(math.MaxInt64)
	for i := 0; i < tries && best > tight; i++ {
		var ts unix.Timespec
		before := time.Now()
		if err := unix.ClockGettime(id, &ts); err != nil {
			return at, 0, fmt.Errorf("read the kernel's clock %d: %w", id, err)
		}
		if gap := time.Since(before); gap < best {
			best, at, ns = gap, before.Add(gap/2), ts.Nano()
		}
	}
	return at, ns, nil
}

// farClock is the difference between the epochs of two processes above which they have different
// CLOCK_MONOTONIC. One process's epoch changes by as much only when somebody sets the wall clock or
// suspends the machine.
const farClock = time.Second

// shareClock makes Now return the creator's CLOCK_MONOTONIC. In another time namespace and on
// another kernel (gVisor) CLOCK_MONOTONIC differs; the wall clock, which does not, shows by how much.
func (m *Memory) shareClock() error {
	if own := timeSpace(); own != 0 && own == m.head.space.Load() {
		return nil
	}
	epoch, err := m.epoch()
	if err != nil {
		return err
	}
	if off := epoch - m.head.epoch.Load(); off > int64(farClock) || off < -int64(farClock) {
		m.mono += off
	}
	return nil
}

// timeSpace is the inode of this process's time namespace; 0 before Linux 5.6 and on gVisor, which
// have none.
func timeSpace() uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/time", &st) != nil {
		return 0
	}
	return st.Ino
}

// epoch is the wall clock's time, in ns, at which CLOCK_MONOTONIC was 0.
func (m *Memory) epoch() (int64, error) {
	at, ns, err := readClock(unix.CLOCK_REALTIME)
	return ns - m.mono - int64(at.Sub(m.base)), err
}

// File is the file that the load inherits.
func (m *Memory) File() *os.File { return m.file }

// Close unmaps the segment and closes its file.
func (m *Memory) Close() error { return errors.Join(unix.Munmap(m.data), m.file.Close()) }

// Now is the creator's CLOCK_MONOTONIC in ns. All processes that share the segment have the same
// Now. It needs no system call.
func (m *Memory) Now() int64 { return m.mono + int64(time.Since(m.base)) }

// Threads is the number of slots.
func (m *Memory) Threads() int { return int(m.head.slots) }

// Slot is the slot of thread i, from 0.
func (m *Memory) Slot(i int) *Slot {
	return (*Slot)(unsafe.Pointer(&m.data[pageBytes+i*slotBytes]))
}
