package counter

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/record"
)

// Windows on request, for a load whose tool cannot be cut at any instant: the
// rotation asks for a window of some length, the load runs its tool for that
// long, adds what the tool says to a slot, and answers. Between answer and
// request such a load does nothing.

// ask is written by the rotation; number last.
type ask struct {
	length  atomic.Int64 // ns to measure
	discard atomic.Int64 // ns to run before that
	number  atomic.Uint32
}

// answer is written by the load; began and number last.
type answer struct {
	seconds     atomic.Uint64 // float64, measured
	half        atomic.Uint64 // operations of the first half; see Answer
	halfSeconds atomic.Uint64 // float64
	began       atomic.Uint32 // number of the window whose discard is over
	number      atomic.Uint32 // number of the last window that was answered
}

// Request is one window that is asked for.
type Request struct {
	// Number counts the requests from 1.
	Number uint32
	// Length is how long to measure, after Discard.
	Length, Discard time.Duration
}

// Answer is what the load says of a window, beside what it counted.
type Answer struct {
	Seconds float64 // measured
	// First is the operations of the first half and FirstSeconds its length;
	// no length: the tool does not tell.
	First        uint64
	FirstSeconds float64
}

// Ask asks for the next window. Call it before the arm is thawed.
func (m *Memory) Ask(length, discard time.Duration) Request {
	a := &m.head.ask
	r := Request{Number: a.number.Load() + 1, Length: length, Discard: discard}
	a.length.Store(int64(length))
	a.discard.Store(int64(discard))
	a.number.Store(r.Number)
	wake(&a.number)
	return r
}

// Began waits up to limit for the end of the discard and says whether it came.
// After that the window is open.
func (m *Memory) Began(r Request, limit time.Duration) bool {
	return m.reached(&m.head.answer.began, r.Number, limit)
}

// Answered waits up to limit for the answer and says whether it came.
func (m *Memory) Answered(r Request, limit time.Duration) (Answer, bool) {
	a := &m.head.answer
	if !m.reached(&a.number, r.Number, limit) {
		return Answer{}, false
	}
	return Answer{
		Seconds:      math.Float64frombits(a.seconds.Load()),
		First:        a.half.Load(),
		FirstSeconds: math.Float64frombits(a.halfSeconds.Load()),
	}, true
}

// reached waits until the word is the number. A kernel of the load's own (gVisor) wakes
// nobody here: so it looks by itself too, the less often the longer it waits.
func (m *Memory) reached(word *atomic.Uint32, number uint32, limit time.Duration) bool {
	const soon, part = 200 * time.Microsecond, 50
	began := m.Now()
	deadline := began + int64(limit)
	for now := began; ; now = m.Now() {
		seen := word.Load()
		if seen == number {
			return true
		}
		if now >= deadline {
			return false
		}
		next := max(soon, time.Duration(now-began)/part)
		waitFor(word, seen, min(next, time.Duration(deadline-now)))
	}
}

// Next waits for a request that was not answered yet; ok is false when the load
// was told to end.
func (m *Memory) Next() (r Request, ok bool) {
	a := &m.head.ask
	for !m.Stopped() {
		seen := a.number.Load()
		if seen != m.head.answer.number.Load() {
			return Request{
				Number: seen, Length: time.Duration(a.length.Load()), Discard: time.Duration(a.discard.Load()),
			}, true
		}
		waitFor(&a.number, seen, 20*time.Millisecond) // so that Stop is seen soon, and who cannot wake it
	}
	return Request{}, false
}

// BeginWindow says that the discard is over and the window open.
func (m *Memory) BeginWindow(r Request) {
	m.head.answer.began.Store(r.Number)
	wake(&m.head.answer.began)
}

// Answer answers a request, after everything of it was counted.
func (m *Memory) Answer(r Request, a Answer) {
	to := &m.head.answer
	to.seconds.Store(math.Float64bits(a.Seconds))
	to.half.Store(a.First)
	to.halfSeconds.Store(math.Float64bits(a.FirstSeconds))
	to.number.Store(r.Number)
	wake(&to.number)
}

// Add counts what a tool says that it did: operations, those of them that
// failed left out, and latencies of as many as it knows.
func (s *Slot) Add(ops, errors uint64, latency record.Histogram) {
	s.ops.Add(ops)
	s.errors.Add(errors)
	for i, b := range latency.Index {
		s.buckets[b].Add(latency.Count[i])
	}
}

func waitFor(word *atomic.Uint32, seen uint32, limit time.Duration) {
	t := unix.NsecToTimespec(int64(limit))
	// The error says only why the sleep ended: the caller looks again anyway.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&t)), 0, 0)
}

func wake(word *atomic.Uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
}
