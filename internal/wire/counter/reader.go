package counter

import (
	"strings"
	"unsafe"

	"github.com/tarelab/tare/record"
)

// This file has the side of the rotation.

// State is the state of the load; note is the reason if it failed.
func (m *Memory) State() (state uint64, note string) {
	state = m.head.state.Load()
	if state == Failed {
		n := min(m.head.noted.Load(), noteBytes)
		note = strings.ToValidUTF8(string(m.head.note[:n]), "")
	}
	return state, note
}

// SetGate closes (true) or opens the gate at which the load waits between operations. With a closed
// gate the load is paused when InFlight is 0.
func (m *Memory) SetGate(closed bool) {
	if closed {
		m.head.gate.Store(1)
		return
	}
	m.head.gate.Store(0)
	wake(&m.head.gate)
}

// HoldWhenReady makes the load itself close the gate when it is ready. tare could close it too late,
// because loads at full speed can keep tare from the CPU. Call it before the load is started.
func (m *Memory) HoldWhenReady() { m.head.holds.Store(1) }

// MarkThaw sets the time of the thaw: operations that began before are counted without latency, and
// an open loop starts a new schedule. Call it right before the thaw or before the gate opens: after it
// some operations may already have ended.
func (m *Memory) MarkThaw() { m.head.thawed.Store(m.Now()) }

// SetSeed sets the seed of an open loop's arrivals. Call it before MarkThaw.
func (m *Memory) SetSeed(seed uint64) { m.head.seed.Store(seed) }

// InFlight is the number of operations in flight.
func (m *Memory) InFlight() int {
	n := 0
	for i := range m.Threads() {
		n += int(m.Slot(i).busy.Load())
	}
	return n
}

// Ops is the number of operations so far. It reads one cache line per thread and does not disturb the
// load.
func (m *Memory) Ops() uint64 {
	var n uint64
	for i := range m.Threads() {
		n += m.Slot(i).ops.Load()
	}
	return n
}

// Words are the addresses of the words that Ops adds up, one for each thread.
func (m *Memory) Words() []*uint64 {
	words := make([]*uint64, m.Threads())
	for i := range words {
		words[i] = (*uint64)(unsafe.Pointer(&m.Slot(i).ops))
	}
	return words
}

// Snapshot is a reading of all counters. It is large: reuse one per arm.
type Snapshot struct {
	Ops, Errors, Cut, Late, Backlog uint64

	buckets []uint64 // summed over the threads
}

// Read fills the snapshot. It is not atomic: each counter is read at some moment of the call.
func (m *Memory) Read(s *Snapshot) {
	if s.buckets == nil {
		s.buckets = make([]uint64, record.Buckets)
	}
	clear(s.buckets)
	*s = Snapshot{buckets: s.buckets}
	for i := range m.Threads() {
		slot := m.Slot(i)
		s.Ops += slot.ops.Load()
		s.Errors += slot.errors.Load()
		s.Cut += slot.cut.Load()
		s.Late += slot.late.Load()
		s.Backlog += slot.backlog.Load()
		for b := range slot.buckets {
			s.buckets[b] += slot.buckets[b].Load()
		}
	}
}

// Since is the histogram of the latencies that were counted after the earlier snapshot; a zero
// snapshot gives all.
func (s *Snapshot) Since(earlier *Snapshot) record.Histogram {
	var h record.Histogram
	for b, d := range s.buckets {
		if earlier.buckets != nil {
			d -= earlier.buckets[b]
		}
		if d > 0 {
			h.Index = append(h.Index, uint32(b))
			h.Count = append(h.Count, d)
		}
	}
	return h
}
