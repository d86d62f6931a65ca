package counter

import "github.com/tarelab/tare/record"

// The side of a load that follows another program: it learns of an operation when it has ended, from
// the program's log.

// Enter waits at the gate and marks n operations as in flight: the number that the program always
// has in flight. See Begin.
func (m *Memory) Enter(s *Slot, n int) {
	s.busy.Store(uint64(n))
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		s.busy.Store(0)
		m.Gate()
		s.busy.Store(uint64(n))
	}
}

// Heard counts an operation that took latency (ns) and ended at over (CLOCK_MONOTONIC in ns), or
// shortly before but after the last thaw. As in End, the latency is not counted if a pause was
// within the operation. The number of operations in flight does not change.
func (m *Memory) Heard(s *Slot, over, latency int64) {
	if thawed := m.head.thawed.Load(); over-latency < thawed && over >= thawed {
		s.cut.Add(1)
	} else {
		s.buckets[record.Bucket(latency)].Add(1)
	}
	s.ops.Add(1)
}

// HeardError counts an operation that failed.
func (s *Slot) HeardError() { s.errors.Add(1) }
