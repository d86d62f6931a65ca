package session

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/sched"
)

// placedFor is how long after a thaw threads stay on the CPU that was drawn: until those that have work have run.
const placedFor = time.Millisecond

// errNotStopped: threads are placed while they are frozen.
var errNotStopped = errors.New("its processes cannot be frozen")

// placement draws, while an arm is frozen, on which CPU each of its threads goes on. Which threads of a server and its
// client share a CPU is a pattern that lasts for a tenth of a second of running and survives a freeze, and the CPU time
// of an operation differs between patterns by a tenth and more. Windows that begin with a placement of their own sample
// the patterns; otherwise the windows of a launch share a few of them, and launches differ.
type placement struct {
	threads interface {
		List(dst []int) []int
		Close() error
	}
	random     rand.PCG
	known, ids []int // the threads when they were placed, and when they were released
	bound      []boundThread
}

// boundThread is a thread, the CPUs that it may use, and the one that was drawn.
type boundThread struct {
	tid  int
	cpus unix.CPUSet
	cpu  int
}

// openPlacement lists the threads of an arm's control groups. It fails if tare may not place them.
func openPlacement(t probe.Target) (*placement, error) {
	m, err := probe.Threads(t)
	if err != nil {
		return nil, err
	}
	p := &placement{threads: m}
	for _, tid := range m.List(nil) {
		var cpus unix.CPUSet
		if unix.SchedGetaffinity(tid, &cpus) != nil {
			continue // it has ended
		}
		if err := bind(tid, cpus); err != nil {
			return nil, errors.Join(fmt.Errorf("place thread %d: %w", tid, err), m.Close())
		}
	}
	return p, nil
}

// draw binds every thread to one of its CPUs. The last thread that was made is the first: arms whose threads are made in
// the same order, after those of a runtime, get the same placement from the same seed.
func (p *placement) draw(seed uint64) error {
	if p == nil {
		return nil
	}
	p.known, p.bound = p.threads.List(p.known[:0]), p.bound[:0]
	slices.Sort(p.known)
	p.random.Seed(seed, 0)
	for _, tid := range slices.Backward(p.known) {
		b := boundThread{tid: tid}
		if unix.SchedGetaffinity(tid, &b.cpus) != nil {
			continue // it has ended
		}
		n := b.cpus.Count()
		if n < 2 {
			continue
		}
		b.cpu = nth(&b.cpus, int(p.random.Uint64()%uint64(n)))
		if err := bind(tid, only(b.cpu)); err != nil {
			return errors.Join(fmt.Errorf("place thread %d on CPU %d: %w", tid, b.cpu, err), p.release())
		}
		p.bound = append(p.bound, b)
	}
	return nil
}

// hold lets the threads run where they were placed, and then releases them.
func (p *placement) hold() error {
	if p == nil {
		return nil
	}
	sched.SleepUntil(sched.Monotonic() + int64(placedFor))
	return p.release()
}

// release lets the threads use all their CPUs again. A thread that was made meanwhile has inherited the one CPU of the
// thread that made it, and gets that thread's CPUs.
func (p *placement) release() error {
	if p == nil {
		return nil
	}
	var failed error
	for _, b := range p.bound {
		if err := bind(b.tid, b.cpus); err != nil {
			failed = fmt.Errorf("give thread %d its CPUs again: %w", b.tid, err)
		}
	}
	p.ids = p.threads.List(p.ids[:0])
	for _, tid := range p.ids {
		if _, known := slices.BinarySearch(p.known, tid); !known {
			failed = cmp.Or(p.releaseNew(tid), failed)
		}
	}
	return failed
}

// releaseNew releases a thread that was made since the draw.
func (p *placement) releaseNew(tid int) error {
	var now unix.CPUSet
	if unix.SchedGetaffinity(tid, &now) != nil || now.Count() != 1 {
		return nil
	}
	for _, b := range p.bound {
		if now.IsSet(b.cpu) {
			return bind(tid, b.cpus)
		}
	}
	return nil
}

func (p *placement) close() error {
	if p == nil {
		return nil
	}
	return p.threads.Close()
}

// bind lets a thread use these CPUs only. A thread that has ended is no error.
func bind(tid int, cpus unix.CPUSet) error {
	if err := unix.SchedSetaffinity(tid, &cpus); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

func only(cpu int) (set unix.CPUSet) {
	set.Set(cpu)
	return set
}

// nth is the CPU of a set that has n others before it.
func nth(set *unix.CPUSet, n int) int {
	for cpu := 0; ; cpu++ {
		if set.IsSet(cpu) {
			if n == 0 {
				return cpu
			}
			n--
		}
	}
}
