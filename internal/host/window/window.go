// Package window cuts a window out of a running load whose counters are in
// memory of this process: in tare itself, or in the agent of a pod elsewhere.
package window

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Load is a load that is let run for a window at a time. Its buffers are used
// window after window.
type Load struct {
	Memory *counter.Memory
	Probes *probe.Set
	// Ended says why nobody waits for the window any longer; nil: go on.
	Ended func() error
	// Opened is called when the window is open and everything is read, Closing
	// before anything is read at its end; nil: nothing is beside the load.
	Opened, Closing func()

	asked         counter.Request
	closed        bool
	words         []*uint64 // that Memory counts operations in
	stay          sched.Stay
	open, shut    counter.Snapshot
	before, after []float64
	exactly       [2]bool       // the first of the probes was read in the moment in which the window opened, and ended
	quickest      time.Duration // that the probes were read in; 0: not yet
	soonest       time.Duration // that a window was opened in, likewise
	// Sums of the numbers that the load adds up itself.
	saidOpen, saidShut []counter.Sum
}

// Announce tells the load what comes, before it is let go.
func (l *Load) Announce(v wire.WindowSpec) {
	l.closed, l.exactly = false, [2]bool{}
	if l.words == nil {
		l.words = l.Memory.Words()
	}
	if v.Asked {
		l.asked = l.Memory.Ask(v.Length, v.Discard)
	}
	l.Memory.SetSeed(v.Seed)
	l.Memory.MarkThaw()
}

// Cut measures a load that runs. The load is to be paused after it, whatever the
// error; Fill completes what was seen.
func (l *Load) Cut(v wire.WindowSpec) (out wire.Sample, err error) {
	began := sched.Monotonic()
	switch {
	case v.Asked:
		err = l.answer(&out, v)
	case v.Tick > 0:
		err = l.trace(&out, v, began)
	default:
		err = l.window(&out, v, began)
	}
	out.Ran = time.Duration(sched.Monotonic() - began)
	return out, err
}

// Fill completes what was seen from the readings, which is for when the load is
// paused. What did not come to its end has none.
func (l *Load) Fill(out *wire.Sample) {
	if !l.closed {
		return
	}
	if l.exactly[0] {
		l.Probes.Correct(l.before, false)
	}
	if l.exactly[1] {
		l.Probes.Correct(l.after, true)
	}
	out.Errors, out.Cut = l.shut.Errors-l.open.Errors, l.shut.Cut-l.open.Cut
	out.Late, out.Backlog = l.shut.Late-l.open.Late, l.shut.Backlog
	out.Latency = l.shut.Since(&l.open)
	out.Probes = l.Probes.Values(l.before, l.after)
	out.Open, out.Shut = l.saidOpen, l.saidShut
}

// window measures from the end of the discard on.
func (l *Load) window(out *wire.Sample, v wire.WindowSpec, began int64) error {
	if err := Sleep(began+int64(v.Discard), l.Ended); err != nil {
		return err
	}
	first, middle, last, err := l.through(v)
	if err != nil {
		return err
	}
	between(out, first, l.end(v, last))
	if middle.at > 0 {
		out.FirstSeconds, out.First = middle.since(first)
	}
	if v.Steady == 0 {
		return nil
	}
	return l.steady(out, v.Steady)
}

// steady lets the load run on and keeps its rate since a third of that: far from
// any thaw.
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

// answer measures what the load says that its window was, with counters and
// probes around it.
func (l *Load) answer(out *wire.Sample, v wire.WindowSpec) error {
	r := l.asked
	if err := l.await(v.Discard+v.Limit, func(d time.Duration) bool { return l.Memory.Began(r, d) }); err != nil {
		return err
	}
	l.begin(v)
	first := l.mark()
	var said counter.Answer
	err := l.await(v.Length+v.Limit, func(d time.Duration) (ok bool) {
		said, ok = l.Memory.Answered(r, d)
		return ok
	})
	if err != nil {
		return err
	}
	between(out, first, l.end(v, l.mark()))
	out.Seconds, out.First, out.FirstSeconds = said.Seconds, said.First, said.FirstSeconds
	return nil
}

// await waits for something that the load does, in slices so that an end is seen
// soon.
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

// trace counts the operations of each tick.
func (l *Load) trace(out *wire.Sample, v wire.WindowSpec, began int64) error {
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

// begin reads everything before a window opens; end reads everything after its last
// mark. What stands first among the probes is read next to the window on both sides.
// Readings that were held up would be of other seconds than the operations: they are
// taken anew, and the window is so much later or longer.
func (l *Load) begin(v wire.WindowSpec) {
	for range tries {
		if l.readOpen(v) {
			break
		}
	}
	if l.Opened != nil {
		l.Opened()
	}
}

func (l *Load) end(v wire.WindowSpec, last mark) mark {
	for try := range tries {
		if try > 0 {
			last, l.exactly[1] = l.mark(), false
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

// through opens the window, sleeps through it, and marks its beginning, middle and end. In
// a short window, and at the end of each half of a longer one, Go's runtime is away: it
// would take CPU time from the load. One of its threads is awake for a little while after
// the readings, and the window opens after that; what stands first among the probes is
// read once more then, and when the window ends.
func (l *Load) through(v wire.WindowSpec) (first, middle, last mark, err error) {
	var marks [3]sched.Mark
	after := [2]int64{int64(v.Length) / 2, int64(v.Length)}
	s := &l.stay
	for try := range tries {
		l.begin(v)
		var shut []sched.Reading
		s.Open, shut = l.Probes.Exact()
		s.After, s.Latest, s.Words, s.Shut, s.Marks = nil, 0, l.words, nil, marks[:]
		l.exactly = [2]bool{len(s.Open) > 0, len(s.Open) > 0}
		s.Moment = sched.Monotonic() + int64(min(lead, v.Length/100))
		switch {
		case v.Length <= slice && v.Whole:
			s.After, s.Shut = after[1:], shut
		case v.Length <= slice:
			s.After, s.Shut = after[:], shut
		}
		if l.soonest > 0 && try < tries-1 {
			s.Latest = s.Moment + int64(2*l.soonest+heldUp)
		}
		inTime := s.Sleep()
		if took := time.Duration(marks[0].At - s.Moment); l.soonest == 0 || took < l.soonest {
			l.soonest = took
		}
		switch {
		case !inTime:
			continue
		case v.Length > slice:
			err = l.halves(after, marks[:], shut)
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

// halves sleeps through a longer window.
func (l *Load) halves(after [2]int64, marks []sched.Mark, shut []sched.Reading) error {
	for i := range after {
		s := &l.stay
		s.Moment, s.Latest, s.Open, s.Marks = marks[0].At+after[i], 0, nil, marks[1+i:]
		if i == len(after)-1 {
			s.Shut = shut
		}
		if err := Sleep(s.Moment-int64(slice)/2, l.Ended); err != nil {
			return err
		}
		s.Sleep()
	}
	return nil
}

func markOf(m sched.Mark) mark { return mark{m.At, m.Sum, m.CPU} }

// readOpen reads the counters, then the probes, the first of them last; readShut
// the other way round. They say whether the probes were read without delay.
func (l *Load) readOpen(v wire.WindowSpec) bool {
	l.Memory.Read(&l.open)
	l.saidOpen = l.said(v, l.saidOpen[:0])
	began := sched.Monotonic()
	l.before = l.Probes.ReadBack(l.before)
	return l.prompt(began)
}

func (l *Load) readShut(v wire.WindowSpec) bool {
	began := sched.Monotonic()
	l.after = l.Probes.Read(l.after[:0])
	prompt := l.prompt(began)
	l.Memory.Read(&l.shut)
	l.saidShut = l.said(v, l.saidShut[:0])
	l.closed = true
	return prompt
}

// prompt says whether the probes were read in about the least time that it ever
// took here.
func (l *Load) prompt(began int64) bool {
	took := time.Duration(sched.Monotonic() - began)
	if l.quickest == 0 || took < l.quickest {
		l.quickest = took
	}
	return took <= 2*l.quickest+heldUp
}

// said reads the numbers that the load adds up itself.
func (l *Load) said(v wire.WindowSpec, to []counter.Sum) []counter.Sum {
	for i := range min(v.Values, counter.MaxValues) {
		to = append(to, l.Memory.Value(i))
	}
	return to
}

// mark is one moment of an open window.
type mark struct {
	at  int64 // CLOCK_MONOTONIC ns
	ops uint64
	cpu int64 // of this process, ns
}

func (l *Load) mark() mark { return mark{sched.Monotonic(), l.Memory.Ops(), sched.ProcessCPU()} }

func (m mark) since(earlier mark) (seconds float64, ops uint64) {
	return float64(m.at-earlier.at) * 1e-9, m.ops - earlier.ops
}

// between is what was seen from one mark to the other.
func between(out *wire.Sample, first, last mark) {
	out.Start = first.at
	out.Seconds, out.Ops = last.since(first)
	out.Self, out.SelfWall = time.Duration(last.cpu-first.cpu), time.Duration(last.at-first.at)
}

const (
	// tries is how often readings are taken that were held up, by more than heldUp.
	tries  = 3
	heldUp = 200 * time.Microsecond

	// lead is what lies between the readings and a window, for the monitor of Go's
	// runtime: it looks every 20 us, with a slack of 50, whether anything runs. In a short
	// window it is a hundredth of it.
	lead = 150 * time.Microsecond

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

// Sleep sleeps until the moment (CLOCK_MONOTONIC ns), in slices so that an end is
// seen soon.
func Sleep(until int64, ended func() error) error {
	for now := sched.Monotonic(); now < until; now = sched.Monotonic() {
		if err := ended(); err != nil {
			return err
		}
		sched.SleepUntil(min(until, now+int64(slice)))
	}
	return ended()
}
