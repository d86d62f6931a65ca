package counter

import "unsafe"

// Layout describes a segment for a load in another language: offsets and sizes in bytes. The words
// of a slot have 64 bits and one writer; the gate has 32 bits. The load has to keep the order of
// Begin and End.
type Layout struct {
	Bytes     int // of the whole segment
	Slots     int
	FirstSlot int // offset of slot 0
	SlotBytes int // distance of the slots

	// In the header.
	Gate, Thawed, Seed int

	// In a slot.
	Ops, Errors, Cut, Late, Backlog, Busy, Buckets int
}

// Layout describes the segment.
func (m *Memory) Layout() Layout {
	var h header
	var s Slot
	return Layout{
		Bytes: len(m.data), Slots: m.Threads(), FirstSlot: pageBytes, SlotBytes: slotBytes,
		Gate:    int(unsafe.Offsetof(h.gate)),
		Thawed:  int(unsafe.Offsetof(h.thawed)),
		Seed:    int(unsafe.Offsetof(h.seed)),
		Ops:     int(unsafe.Offsetof(s.ops)),
		Errors:  int(unsafe.Offsetof(s.errors)),
		Cut:     int(unsafe.Offsetof(s.cut)),
		Late:    int(unsafe.Offsetof(s.late)),
		Backlog: int(unsafe.Offsetof(s.backlog)),
		Busy:    int(unsafe.Offsetof(s.busy)),
		Buckets: int(unsafe.Offsetof(s.buckets)),
	}
}
