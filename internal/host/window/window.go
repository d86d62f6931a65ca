// Package window cuts measured windows out of a running load whose counters are in
// memory of this process: in tare itself, or in the agent of a pod on another node.
package window

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Load is a load that runs for one window at a time. It uses its buffers again for each
// window.
type Load struct {
	Memory *counter.Memory
	Probes *probe.Set
	// Ended says why the window is given up; nil: go on.
	Ended func() error
	// Opened is called after the readings at the opening, Closing before those at the
	// closing: the neighbour is read there. nil: there is no neighbour.
	Opened, Closing func()

	asked         counter.Request
	closed        bool      // the readings at the closing were taken
	words         []*uint64 // the words of Memory that count operations
	sleep         sched.MarkedSleep
	open, shut    counter.Snapshot
	before, after []float64          // of the probes, as Read read them
	edges         sched.EdgeReadings // of the first probe; an edge has none where it was not used
	quickest      time.Duration      // least time that the probes took to read; 0: not read yet
	soonest       time.Duration      // least delay with which a window opened; 0: none opened yet
	// sumsOpen and sumsShut are the numbers that the load adds up itself, at the edges.
	sumsOpen, sumsShut []counter.Sum
}

// Announce tells the load which window comes, before it is thawed.
func (l *Load) Announce(v wire.WindowSpec) {
	l.closed, l.edges = false, sched.EdgeReadings{}
	if l.words == nil {
		l.words = l.Memory.Words()
	}
	if v.Asked {
		l.asked = l.Memory.Ask(v.Length, v.Discard)
	}
	l.Memory.SetSeed(v.Seed)
	l.Memory.MarkThaw()
}

// Cut measures a load that runs. Pause the load afterwards, also after an error, and then
// call Fill.
func (l *Load) Cut(v wire.WindowSpec) (out wire.Sample, err error) {
	began := sched.Monotonic()
	switch {
	case v.Asked:
		err = l.cutAnswer(&out, v)
	case v.Tick > 0:
		err = l.cutTicks(&out, v, began)
	default:
		err = l.cutWindow(&out, v, began)
	}
	out.Ran = time.Duration(sched.Monotonic() - began)
	return out, err
}

// Fill adds what needs computing to the sample of Cut. Call it when the load is paused. A
// window that did not close gets nothing.
func (l *Load) Fill(out *wire.Sample) {
	if !l.closed {
		return
	}
	out.Errors, out.Cut = l.shut.Errors-l.open.Errors, l.shut.Cut-l.open.Cut
	out.Late, out.Backlog = l.shut.Late-l.open.Late, l.shut.Backlog
	out.Latency = l.shut.Since(&l.open)
	out.Probes = l.Probes.Values(l.Probes.AtEdges(l.before, l.after, l.edges))
	out.Open, out.Shut = l.sumsOpen, l.sumsShut
}

// cutWindow measures from the end of the discard on.
func (l *Load) cutWindow(out *wire.Sample, v wire.WindowSpec, began int64) error {
	if err := Sleep(began+int64(v.Discard), l.Ended); err != nil {
		return err
	}
	first, middle, last, err := l.marks(v)
	if err != nil {
		return err
	}
	between(out, first, l.readAfter(v, last))
	if middle.at > 0 {
		out.FirstSeconds, out.First = middle.since(first)
	}
	if v.Steady == 0 {
		return nil
	}
	return l.steady(out, v.Steady)
}

// steady lets the load run on for d and measures its rate over the last two thirds, in
// which the thaw has no effect any longer.
func (l *Load) steady(out *wire.Sample, d time.Duration) error {
	began := sched.Monotonic()
	if err := Sleep(began+int64(d)/3, l.Ended); err != nil {
		return err
	}
	from := l.mark()
	if err := Sleep(began+int64(d), l.Ended); err != nil {
		return err
	}
	seconds, ops := l.mark().since(from)
	out.SteadyRate = float64(ops) / seconds
	return nil
}

// cutAnswer measures the window that the load itself chooses and answers with; counters and
// probes are read around it.
func (l *Load) cutAnswer(out *wire.Sample, v wire.WindowSpec) error {
	r := l.asked
	if err := l.await(v.Discard+v.Limit, func(d time.Duration) bool { return l.Memory.Began(r, d) }); err != nil {
		return err
	}
	l.readBefore(v)
	first := l.mark()
	var answer counter.Answer
	err := l.await(v.Length+v.Limit, func(d time.Duration) (ok bool) {
		answer, ok = l.Memory.Answered(r, d)
		return ok
	})
	if err != nil {
		return err
	}
	between(out, first, l.readAfter(v, l.mark()))
	out.Seconds, out.First, out.FirstSeconds = answer.Seconds, answer.First, answer.FirstSeconds
	return nil
}

// await waits until done returns true. done waits for the given time at most, so that
// Ended is asked often enough.
func (l *Load) await(limit time.Duration, done func(time.Duration) bool) error {
	for end := sched.Monotonic() + int64(limit); !done(slice); {
		if err := l.Ended(); err != nil {
			return err
		}
		if state, note := l.Memory.State(); state == counter.Failed {
			return fmt.Errorf("the load gave up: %s", note)
		}
		if sched.Monotonic() > end {
			return fmt.Errorf("the load did not answer within %v", limit)
		}
	}
	return nil
}

// cutTicks counts the operations of each tick.
func (l *Load) cutTicks(out *wire.Sample, v wire.WindowSpec, began int64) error {
	out.Ticks = make([]float64, 0, v.Length/v.Tick)
	l.readOpen(v)
	last := l.mark()
	first := last
	for next := began; len(out.Ticks) < cap(out.Ticks); {
		next += int64(v.Tick)
		if err := Sleep(next, l.Ended); err != nil {
			return err
		}
		now := l.mark()
		out.Ticks = append(out.Ticks, float64(now.ops-last.ops))
		last = now
	}
	l.readShut(v)
	out.Start = first.at
	out.Seconds, out.Ops = last.since(first)
	return nil
}

// readBefore reads everything before a window opens, readAfter everything after its last mark.
// Both read again when something held the readings up, because they would then be of other
// seconds than the operations. The window opens or ends that much later.
func (l *Load) readBefore(v wire.WindowSpec) {
	for range tries {
		if l.readOpen(v) {
			break
		}
	}
	if l.Opened != nil {
		l.Opened()
	}
}

func (l *Load) readAfter(v wire.WindowSpec, last mark) mark {
	for try := range tries {
		if try > 0 { // the window ends later than its edge
			last, l.edges[sched.Closing] = l.mark(), nil
		}
		if l.Closing != nil {
			l.Closing()
		}
		if l.readShut(v) {
			break
		}
	}
	return last
}

// marks opens the window, sleeps through it, and marks its beginning, middle and end. Go's
// runtime does not watch the thread in a short window, and at the end of each half of a
// longer one, because it would take CPU time from the load. A thread of the runtime stays
// awake for a little while after the readings; the window opens after that. So the first
// probe is read once more at each edge.
func (l *Load) marks(v wire.WindowSpec) (first, middle, last mark, err error) {
	var marks [3]sched.Mark
	after := [2]int64{int64(v.Length) / 2, int64(v.Length)}
	s := &l.sleep
	for try := range tries {
		l.readBefore(v)
		l.edges = l.Probes.EdgeReadings()
		s.After, s.Latest, s.Words, s.Marks = nil, 0, l.words, marks[:]
		s.Edges = sched.EdgeReadings{sched.Opening: l.edges[sched.Opening]}
		s.First = sched.Monotonic() + int64(min(lead, v.Length/100))
		switch {
		case v.Length <= slice && v.Whole:
			s.After, s.Edges = after[1:], l.edges
		case v.Length <= slice:
			s.After, s.Edges = after[:], l.edges
		}
		if l.soonest > 0 && try < tries-1 {
			s.Latest = s.First + int64(2*l.soonest+heldUp)
		}
		inTime := s.Sleep()
		if took := time.Duration(marks[0].At - s.First); l.soonest == 0 || took < l.soonest {
			l.soonest = took
		}
		switch {
		case !inTime:
			continue
		case v.Length > slice:
			err = l.halves(after, marks[:])
		}
		break
	}
	if err == nil {
		err = l.Ended()
	}
	if len(s.After) == 1 {
		marks[1], marks[2] = sched.Mark{}, marks[1]
	}
	return markOf(marks[0]), markOf(marks[1]), markOf(marks[2]), err
}

// halves sleeps through a window that is longer than slice, after its first mark.
func (l *Load) halves(after [2]int64, marks []sched.Mark) error {
	s := &l.sleep
	s.Latest = 0
	for i := range after {
		s.First, s.Marks, s.Edges = marks[0].At+after[i], marks[1+i:], sched.EdgeReadings{}
		if i == len(after)-1 {
			s.Edges[sched.Closing] = l.edges[sched.Closing]
		}
		if err := Sleep(s.First-int64(slice)/2, l.Ended); err != nil {
			return err
		}
		s.Sleep()
	}
	return nil
}

func markOf(m sched.Mark) mark { return mark{m.At, m.Sum, m.CPU} }

// readOpen reads the counters, then the probes, the first probe last; readShut reads in the
// opposite order. prompt is false when something held the probes' readings up.
func (l *Load) readOpen(v wire.WindowSpec) (prompt bool) {
	l.Memory.Read(&l.open)
	l.sumsOpen = l.sums(v, l.sumsOpen[:0])
	began := sched.Monotonic()
	l.before = l.Probes.ReadBack(l.before)
	return l.prompt(began)
}

func (l *Load) readShut(v wire.WindowSpec) (prompt bool) {
	began := sched.Monotonic()
	l.after = l.Probes.Read(l.after[:0])
	prompt = l.prompt(began)
	l.Memory.Read(&l.shut)
	l.sumsShut = l.sums(v, l.sumsShut[:0])
	l.closed = true
	return prompt
}

// prompt says whether the probes, of which reading began then, took about the least time
// that they ever took here.
func (l *Load) prompt(began int64) bool {
	took := time.Duration(sched.Monotonic() - began)
	if l.quickest == 0 || took < l.quickest {
		l.quickest = took
	}
	return took <= 2*l.quickest+heldUp
}

// sums appends the numbers that the load adds up itself.
func (l *Load) sums(v wire.WindowSpec, to []counter.Sum) []counter.Sum {
	for i := range min(v.Values, counter.MaxValues) {
		to = append(to, l.Memory.Value(i))
	}
	return to
}

// mark is one moment of an open window.
type mark struct {
	at  int64 // CLOCK_MONOTONIC ns
	ops uint64
	cpu int64 // CPU time of this process, ns
}

func (l *Load) mark() mark { return mark{sched.Monotonic(), l.Memory.Ops(), sched.ProcessCPU()} }

func (m mark) since(earlier mark) (seconds float64, ops uint64) {
	return float64(m.at-earlier.at) * 1e-9, m.ops - earlier.ops
}

// between fills in time, operations and tare's own CPU time from one mark to the other.
func between(out *wire.Sample, first, last mark) {
	out.Start = first.at
	out.Seconds, out.Ops = last.since(first)
	out.Self, out.SelfWall = time.Duration(last.cpu-first.cpu), time.Duration(last.at-first.at)
}

const (
	// tries is how often readings are taken at most. heldUp is the delay beyond which they
	// are taken again.
	tries  = 3
	heldUp = 200 * time.Microsecond

	// lead is the time from the readings to the opening of a window, in which the monitor of
	// Go's runtime goes to sleep: it looks every 20 µs, with a slack of 50, whether anything
	// runs. In a short window the lead is a hundredth of the window.
	lead = 150 * time.Microsecond

	// slice is the longest time for which Ended is not asked.
	slice = 100 * time.Millisecond
	// drainBound is how long operations in flight may take to end at a pause.
	drainBound = 200 * time.Millisecond
)

// Pause closes the gate of a load and waits until no operation is in flight, not
// longer than 200 ms.
func Pause(m *counter.Memory) {
	began := sched.Monotonic()
	m.SetGate(true)
	for m.InFlight() > 0 && sched.Monotonic() < began+int64(drainBound) {
		sched.SleepUntil(sched.Monotonic() + int64(200*time.Microsecond))
	}
}

// Sleep sleeps until a moment (CLOCK_MONOTONIC, ns). It returns ended's error, for which it
// asks every 100 ms.
func Sleep(until int64, ended func() error) error {
	for now := sched.Monotonic(); now < until; now = sched.Monotonic() {
		if err := ended(); err != nil {
			return err
		}
		sched.SleepUntil(min(until, now+int64(slice)))
	}
	return ended()
}
