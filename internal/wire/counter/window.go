package counter

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/record"
)

// This file has windows on request, for a load whose tool has no counters that can be read at any
// time. The rotation requests a window of some length; the load runs its tool for that long, adds the
// tool's results to a slot, and answers. From its answer to the next request such a load is idle.

// ask is the request. The rotation writes it, number last.
type ask struct {
	length  atomic.Int64 // ns to measure
	discard atomic.Int64 // ns to run before that
	number  atomic.Uint32
}

// answer is the answer. The load writes it, number last; it writes began when the window opens.
type answer struct {
	seconds     atomic.Uint64 // float64: measured length
	half        atomic.Uint64 // operations of the first half; see Answer
	halfSeconds atomic.Uint64 // float64
	began       atomic.Uint32 // number of the last request whose discard is over
	number      atomic.Uint32 // number of the last request with an answer
}

// Request asks for one window.
type Request struct {
	// Number counts the requests from 1.
	Number uint32
	// Length is how long to measure, after Discard.
	Length, Discard time.Duration
}

// Answer is the load's answer to a request, in addition to its counters.
type Answer struct {
	Seconds float64 // measured length
	// First is the number of operations in the first half of the window, FirstSeconds the length of
	// that half. Both are 0 if the tool does not report them.
	First        uint64
	FirstSeconds float64
}

// Ask asks for the next window. Call it before the thaw.
func (m *Memory) Ask(length, discard time.Duration) Request {
	a := &m.head.ask
	r := Request{Number: a.number.Load() + 1, Length: length, Discard: discard}
	a.length.Store(int64(length))
	a.discard.Store(int64(discard))
	a.number.Store(r.Number)
	wake(&a.number)
	return r
}

// Began waits, at most for limit, until the discard is over and the window is open. It returns whether
// the window is open.
func (m *Memory) Began(r Request, limit time.Duration) bool {
	return m.reached(&m.head.answer.began, r.Number, limit)
}

// Answered waits for the answer, at most for limit. It returns false if no answer came.
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

// reached waits until the word has the value number. A load on another kernel (gVisor) cannot wake a
// futex of this one, so reached also polls, less often the longer it waits.
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

// Next waits for the next request. ok is false if the load was told to end.
func (m *Memory) Next() (r Request, ok bool) {
	a := &m.head.ask
	for !m.Stopped() {
		seen := a.number.Load()
		if seen != m.head.answer.number.Load() {
			return Request{
				Number: seen, Length: time.Duration(a.length.Load()), Discard: time.Duration(a.discard.Load()),
			}, true
		}
		waitFor(&a.number, seen, 20*time.Millisecond) // wakes to notice Stop, and requests from another kernel (gVisor)
	}
	return Request{}, false
}

// BeginWindow says that the discard is over and the window open.
func (m *Memory) BeginWindow(r Request) {
	m.head.answer.began.Store(r.Number)
	wake(&m.head.answer.began)
}

// Answer answers a request. Call it after all results were counted.
func (m *Memory) Answer(r Request, a Answer) {
	to := &m.head.answer
	to.seconds.Store(math.Float64bits(a.Seconds))
	to.half.Store(a.First)
	to.halfSeconds.Store(math.Float64bits(a.FirstSeconds))
	to.number.Store(r.Number)
	wake(&to.number)
}

// Add counts the results of a tool: successful operations, errors, and latencies. The tool may report
// fewer latencies than operations.
func (s *Slot) Add(ops, errors uint64, latency record.Histogram) {
	s.ops.Add(ops)
	s.errors.Add(errors)
	for i, b := range latency.Index {
		s.buckets[b].Add(latency.Count[i])
	}
}

// waitFor sleeps until the word is not seen any more, a process wakes it, or limit is over.
func waitFor(word *atomic.Uint32, seen uint32, limit time.Duration) {
	t := unix.NsecToTimespec(int64(limit))
	// The result only says why the sleep ended; the caller reads the word again anyway.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(seen),
		uintptr(unsafe.Pointer(&t)), 0, 0)
}

func wake(word *atomic.Uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
}
