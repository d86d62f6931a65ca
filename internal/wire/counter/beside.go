package counter

import "github.com/tarelab/tare/record"

// A load that follows what another program does: it learns of operations when
// they are over, from whatever the program says of each.

// Enter waits at the gate and marks n operations as in flight: those that the
// program works at all the time. See Begin.
func (m *Memory) Enter(s *Slot, n int) {
	s.busy.Store(uint64(n))
	for m.head.gate.Load() != 0 && !m.stopped.Load() {
		s.busy.Store(0)
		m.Gate()
		s.busy.Store(uint64(n))
	}
}

// Heard counts an operation that took latency (ns) and was over at a moment
// (CLOCK_MONOTONIC ns), or somewhat before that but after the last thaw. As in
// End, its latency is left out when a pause fell into it. Those in flight stay
// what they are.
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
