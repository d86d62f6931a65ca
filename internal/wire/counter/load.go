package counter

import (
	"time"

	"github.com/tarelab/tare/record"
)

// This file has the load's side. A thread of the load repeats
//
//	start := m.Begin(slot)
//	err := work()
//	m.End(slot, start, err)
//
// until Stopped. Begin waits at the gate.

// SetReady says that the load has warmed up and counts. If tare has called HoldWhenReady, SetReady
// closes the gate first.
func (m *Memory) SetReady() {
	if m.head.holds.Load() != 0 {
		m.head.gate.Store(1)
	}
	m.head.state.Store(Ready)
}

// Fail says that the load gave up, and why. It truncates a long reason, and keeps only the first one.
func (m *Memory) Fail(reason string) {
	if m.failed.Swap(true) {
		return
	}
	n := copy(m.head.note[:], reason)
	m.head.noted.Store(uint64(n))
	m.head.state.Store(Failed)
}

// Stop tells the threads of this process to end: Gate and Begin no longer wait, and Stopped is true.
func (m *Memory) Stop() { m.stopped.Store(true) }

// Stopped says that this process was told to end.
func (m *Memory) Stopped() bool { return m.stopped.Load() }

// Gate waits while the gate is closed. It sleeps on a futex: polling by all threads of all paused
// arms would cost CPU time.
func (m *Memory) Gate() {
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		m.wait()
	}
}

// wait sleeps until the gate opens, at most 100 ms, so that Gate notices Stop soon.
func (m *Memory) wait() { waitFor(&m.head.gate, 1, 100*time.Millisecond) }

// Operations of the futex call, shared between processes (linux/futex.h).
const (
	futexWait = 0
	futexWake = 1
)

// Paused says whether the gate is closed.
func (m *Memory) Paused() bool { return m.head.gate.Load() != 0 }

// Thawed is the time of the last thaw, CLOCK_MONOTONIC in ns.
func (m *Memory) Thawed() int64 { return m.head.thawed.Load() }

// Seed is the seed of an open loop's arrivals. It changes with each block and is the same in all arms
// of a block.
func (m *Memory) Seed() uint64 { return m.head.seed.Load() }

// Begin waits at the gate, marks an operation as in flight and returns the time (CLOCK_MONOTONIC in
// ns). It sets the mark before it reads the gate: when the rotation has closed the gate and then
// sees no operation in flight, none can start (Dekker's algorithm; sync/atomic is sequentially
// consistent).
func (m *Memory) Begin(s *Slot) int64 {
	s.busy.Store(1)
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		s.busy.Store(0)
		m.Gate()
		s.busy.Store(1)
	}
	return m.Now()
}

// End counts the operation that began, or in an open loop should have begun, at start (CLOCK_MONOTONIC
// in ns). It does not count the latency if the load was paused during the operation. A failed operation
// counts only as an error. The operation is in flight until End has counted it.
func (m *Memory) End(s *Slot, start int64, err error) {
	if err != nil {
		m.EndMany(s, start, 0, 1)
		return
	}
	m.EndMany(s, start, 1, 0)
}

// EndMany is End for operations that were sent together: each has the latency of the whole batch.
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

// Idle says that no operation is in flight, without counting one.
func (s *Slot) Idle() { s.busy.Store(0) }

// Late counts an open-loop operation that began more than 1 ms after its intended time.
func (s *Slot) Late() { s.late.Add(1) }

// SetBacklog sets the number of open-loop arrivals that wait.
func (s *Slot) SetBacklog(n uint64) { s.backlog.Store(n) }

// InFlight says whether an operation of this slot is in flight.
func (s *Slot) InFlight() bool { return s.busy.Load() != 0 }
