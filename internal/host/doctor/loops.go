package doctor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/sched"
)

// loop is a kind of work with the results of its slices.
type loop struct {
	name, title string
	// chunk works for about 20 µs and returns the number of steps.
	chunk   func() int
	steps   []float64
	seconds []float64
	sink    uint64 // holds results, so that the compiler does not remove the work
}

// run works for one slice.
func (l *loop) run(d time.Duration) {
	begin := sched.Monotonic()
	steps, now := 0, begin
	for now-begin < int64(d) {
		steps += l.chunk()
		now = sched.Monotonic()
	}
	l.steps = append(l.steps, float64(steps))
	l.seconds = append(l.seconds, float64(now-begin)*1e-9)
}

// memoryBytes is larger than the caches of most CPUs, or than one core's share of them.
const memoryBytes = 64 << 20

// loops makes the three kinds of work. The caller calls release, which unmaps the memory.
func loops() (all []*loop, release func(), err error) {
	memory, err := unix.Mmap(-1, 0, memoryBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		return nil, nil, fmt.Errorf("take %d MiB of memory: %w", memoryBytes>>20, err)
	}
	return []*loop{arithmetic(), chase(memory), calls()}, func() { _ = unix.Munmap(memory) }, nil
}

// arithmetic is a chain of multiplications in registers (Knuth's MMIX generator). It slows down
// only when the thread loses its CPU, or the CPU its frequency.
func arithmetic() *loop {
	l := &loop{name: "alu", title: titleArithmetic}
	l.chunk = func() int {
		const steps = 16000
		x := l.sink
		for range steps {
			x = x*6364136223846793005 + 1442695040888963407
		}
		l.sink = x
		return steps
	}
	return l
}

// chase reads cache lines in an order that no prefetcher follows: each address depends on the
// line before, whose content is 0. It slows down with the use of the last-level cache and of
// memory bandwidth by others.
func chase(memory []byte) *loop {
	l := &loop{name: "memory", title: titleMemoryReads}
	const line = 64
	mask := uint64(len(memory)/line - 1) // the length is a power of two
	l.chunk = func() int {
		const steps = 200
		at := l.sink
		for range steps {
			// a full period: the factor is 1 modulo 4, the summand is odd
			at = (at*1664525 + 1013904223 + uint64(memory[at*line])) & mask
		}
		l.sink = at
		return steps
	}
	return l
}

// calls enters the kernel and returns. Its rate depends on the CPU's mitigations too.
func calls() *loop {
	l := &loop{name: "syscall", title: titleSystemCalls}
	l.chunk = func() int {
		const steps = 100
		for range steps {
			l.sink += uint64(unix.Getppid())
		}
		return steps
	}
	return l
}
