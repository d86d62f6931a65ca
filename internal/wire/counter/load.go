package counter

import (
	"time"

	"github.com/tarelab/tare/record"
)

// The side of the load. A thread of it repeats
//
//	start := m.Begin(slot)
//	err := work()
//	m.End(slot, start, err)
//
// until Stopped. Begin waits at the gate.

// SetReady says that the load is warmed up and counts, or waits at its gate if it is
// to hold there.
func (m *Memory) SetReady() {
	if m.head.holds.Load() != 0 {
		m.head.gate.Store(1)
	}
	m.head.state.Store(Ready)
}

// Fail says that the load gave up and why; a long reason is cut. The first
// reason stays.
func (m *Memory) Fail(reason string) {
	if m.failed.Swap(true) {
		return
	}
	n := copy(m.head.note[:], reason)
	m.head.noted.Store(uint64(n))
	m.head.state.Store(Failed)
}

// Stop tells the threads of this process to end: Gate and Begin wait no
// longer and Stopped is true.
func (m *Memory) Stop() { m.stopped.Store(true) }

// Stopped says that this process was told to end.
func (m *Memory) Stopped() bool { return m.stopped.Load() }

// Gate waits while the rotation pauses the load by its gate. The kernel wakes
// it: a paused load must cost nothing, and polling by every thread of every
// paused arm would.
func (m *Memory) Gate() {
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		m.wait()
	}
}

// wait sleeps until the gate is opened, and at most 100 ms, so that Stop is
// seen soon.
func (m *Memory) wait() { waitFor(&m.head.gate, 1, 100*time.Millisecond) }

// Operations of the futex call, shared between processes (linux/futex.h).
const (
	futexWait = 0
	futexWake = 1
)

// Paused says whether the gate is closed.
func (m *Memory) Paused() bool { return m.head.gate.Load() != 0 }

// Thawed is when the load was last let run, CLOCK_MONOTONIC in nanoseconds.
func (m *Memory) Thawed() int64 { return m.head.thawed.Load() }

// Seed is the seed of the arrival process; it changes with each block and is
// the same in all arms of a block.
func (m *Memory) Seed() uint64 { return m.head.seed.Load() }

// Begin waits at the gate, marks an operation as in flight and returns when it
// began (CLOCK_MONOTONIC ns). The mark comes before the look at the gate, so
// that a rotation that has closed the gate and then saw nothing in flight can
// rely on it (Dekker's way; sync/atomic is sequentially consistent).
func (m *Memory) Begin(s *Slot) int64 {
	s.busy.Store(1)
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		s.busy.Store(0)
		m.Gate()
		s.busy.Store(1)
	}
	return m.Now()
}

// End counts the operation that began, or was meant to begin, at start
// (CLOCK_MONOTONIC ns). Its latency is left out when a pause fell into it; a
// failed one counts as an error only. It is in flight until it is counted.
func (m *Memory) End(s *Slot, start int64, err error) {
	if err != nil {
		m.EndMany(s, start, 0, 1)
		return
	}
	m.EndMany(s, start, 1, 0)
}

// EndMany is End for operations that were sent together, of which some failed:
// each took as long as all of them.
func (m *Memory) EndMany(s *Slot, start int64, done, failed uint64) {
	now := m.Now()
	if failed > 0 {
		s.errors.Add(failed)
	}
	if done > 0 {
		if start < m.head.thawed.Load() {
			s.cut.Add(done)
		} else {
			s.buckets[record.Bucket(now-start)].Add(done)
		}
		s.ops.Add(done)
	}
	s.busy.Store(0)
}

// Idle marks that no operation is in flight, without counting one.
func (s *Slot) Idle() { s.busy.Store(0) }

// Late counts an open-loop operation that began more than 1 ms after its time.
func (s *Slot) Late() { s.late.Add(1) }

// SetBacklog says how many arrivals wait now.
func (s *Slot) SetBacklog(n uint64) { s.backlog.Store(n) }

// InFlight says whether an operation of this slot is in flight.
func (s *Slot) InFlight() bool { return s.busy.Load() != 0 }
