package doctor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/sched"
)

// loop is a kind of work and what its slices did.
type loop struct {
	name, title string
	// chunk works for about 20 µs and returns how many steps that were.
	chunk   func() int
	steps   []float64
	seconds []float64
	sink    uint64 // where results go, so that the compiler keeps the work
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

// memoryBytes is beyond the caches of most CPUs, or of one's share of them.
const memoryBytes = 64 << 20

// loops makes the three kinds of work. release gives the memory back.
func loops() (all []*loop, release func(), err error) {
	memory, err := unix.Mmap(-1, 0, memoryBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		return nil, nil, fmt.Errorf("take %d MiB of memory: %w", memoryBytes>>20, err)
	}
	return []*loop{arithmetic(), chase(memory), calls()}, func() { _ = unix.Munmap(memory) }, nil
}

// arithmetic is a chain of multiplications in registers (Knuth's MMIX
// generator): what disturbs it is the loss of the CPU, or of its frequency.
func arithmetic() *loop {
	l := &loop{name: "alu", title: "arithmetic"}
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

// chase reads cache lines one after the other, in an order that no prefetcher
// follows: each address depends on the line read before, which is zero. What
// disturbs it is whoever shares the last cache and the memory.
func chase(memory []byte) *loop {
	l := &loop{name: "memory", title: "reading memory"}
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

// calls enters the kernel and returns: what disturbs it is, beside the rest,
// what the mitigations of the CPU cost at the time.
func calls() *loop {
	l := &loop{name: "syscall", title: "system calls"}
	l.chunk = func() int {
		const steps = 100
		for range steps {
			l.sink += uint64(unix.Getppid())
		}
		return steps
	}
	return l
}
