// Package window measures windows of a running load. This process shares the memory with the
// load's counters: it is tare itself, or the agent of a pod on another node. The caller thaws the
// load before a window and pauses it afterwards.
package window

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Load measures a running load, one window at a time. Each window reuses the buffers of the last.
type Load struct {
	Memory *counter.Memory
	Probes *probe.Set
	// Ended returns why the window must be abandoned, such as the end of the load; nil: go on.
	Ended func() error
	// Opened is called after the readings at the opening, Closing before the readings at the
	// closing. Both read the neighbour's counters; nil: there is no neighbour.
	Opened, Closing func()

	asked         counter.Request
	closed        bool      // the counters and probes were read at the closing
	words         []*uint64 // the words of Memory that count operations
	sleep         sched.MarkedSleep
	open, shut    counter.Snapshot
	before, after []float64          // probe readings at the opening and at the closing
	edges         sched.EdgeReadings // of the first probe; empty for an edge at which it was not read
	leastReadTime time.Duration      // shortest time in which all probes were read; 0: not read yet
	leastDelay    time.Duration      // shortest delay of an opening; 0: no window opened yet
	// sumsOpen and sumsShut are the sums that the load itself keeps, at the two edges.
	sumsOpen, sumsShut []counter.Sum
}

// Announce hands the load the parameters of the next window. Call it before the thaw.
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

// Cut measures one window of the running load. Pause the load afterwards, also after an error,
// and then call Fill.
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

// Fill adds the differences of counters and probes to the sample of Cut. Call it when the load is
// paused, so that computing them takes no CPU time from it. An abandoned window stays as it is.
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

// cutWindow waits for the settle time (Discard) and measures one window.
func (l *Load) cutWindow(out *wire.Sample, v wire.WindowSpec, began int64) error {
	if err := Sleep(began+int64(v.Discard), l.Ended); err != nil {
		return err
	}
	first, middle, last, err := l.markWindow(v)
	if err != nil {
		return err
	}
	fillBetween(out, first, l.readAfter(v, last))
	if middle.at > 0 {
		out.FirstSeconds, out.First = middle.since(first)
	}
	if v.Steady == 0 {
		return nil
	}
	return l.measureSteady(out, v.Steady)
}

// measureSteady lets the load run on for d and measures its rate over the last two thirds, when the
// thaw has no effect any more. The transparency check compares this rate with that of the window.
func (l *Load) measureSteady(out *wire.Sample, d time.Duration) error {
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

// cutAnswer measures a window of a load that times its windows itself: the load announces the
// beginning in shared memory and later answers with the length. cutAnswer reads counters and
// probes just outside the load's window.
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
	fillBetween(out, first, l.readAfter(v, l.mark()))
	out.Seconds, out.First, out.FirstSeconds = answer.Seconds, answer.First, answer.FirstSeconds
	return nil
}

// await calls done until it returns true, or returns an error after limit. Each call of done may
// wait for the given time at most, because await calls Ended between the calls.
func (l *Load) await(limit time.Duration, done func(time.Duration) bool) error {
	for end := sched.Monotonic() + int64(limit); !done(pollInterval); {
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

// cutTicks makes a trace for the pilot: the operations in each tick, from the thaw on.
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

// readBefore reads counters and probes before a window opens, readAfter after its last mark. If
// the readings were delayed, they cover another time span than the operations: both then read
// again, up to maxTries times, and move the edge of the window accordingly.
func (l *Load) readBefore(v wire.WindowSpec) {
	for range maxTries {
		if l.readOpen(v) {
			break
		}
	}
	if l.Opened != nil {
		l.Opened()
	}
}

func (l *Load) readAfter(v wire.WindowSpec, last mark) mark {
	for try := range maxTries {
		if try > 0 { // move the end of the window to now
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

// markWindow opens the window, sleeps through it, and marks its beginning, middle and end. It uses
// sched.MarkedSleep, during which sysmon, the Go runtime's monitor thread, does not poll this
// thread: polling takes CPU time from the load. A window up to pollInterval is one marked sleep; a
// longer one is a marked sleep at its opening and at the end of each half. sysmon polls on for a
// short time after the readings, so the window opens later (lead), and the first probe is read
// again at each edge.
func (l *Load) markWindow(v wire.WindowSpec) (first, middle, last mark, err error) {
	var marks [3]sched.Mark
	after := [2]int64{int64(v.Length) / 2, int64(v.Length)}
	s := &l.sleep
	for try := range maxTries {
		l.readBefore(v)
		l.edges = l.Probes.EdgeReadings()
		s.After, s.Latest, s.Words, s.Marks = nil, 0, l.words, marks[:]
		s.Edges = sched.EdgeReadings{sched.Opening: l.edges[sched.Opening]}
		s.First = sched.Monotonic() + int64(min(lead, v.Length/100))
		switch {
		case v.Length <= pollInterval && v.Whole:
			s.After, s.Edges = after[1:], l.edges
		case v.Length <= pollInterval:
			s.After, s.Edges = after[:], l.edges
		}
		if l.leastDelay > 0 && try < maxTries-1 {
			s.Latest = s.First + int64(2*l.leastDelay+maxDelay)
		}
		inTime := s.Sleep()
		if took := time.Duration(marks[0].At - s.First); l.leastDelay == 0 || took < l.leastDelay {
			l.leastDelay = took
		}
		switch {
		case !inTime:
			continue
		case v.Length > pollInterval:
			err = l.sleepHalves(after, marks[:])
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

// sleepHalves sleeps through a window longer than pollInterval, after its first mark.
func (l *Load) sleepHalves(after [2]int64, marks []sched.Mark) error {
	s := &l.sleep
	s.Latest = 0
	for i := range after {
		s.First, s.Marks, s.Edges = marks[0].At+after[i], marks[1+i:], sched.EdgeReadings{}
		if i == len(after)-1 {
			s.Edges[sched.Closing] = l.edges[sched.Closing]
		}
		if err := Sleep(s.First-int64(pollInterval)/2, l.Ended); err != nil {
			return err
		}
		s.Sleep()
	}
	return nil
}

func markOf(m sched.Mark) mark { return mark{m.At, m.Sum, m.CPU} }

// readOpen reads the counters, then the probes, the first probe last; readShut reads in the
// opposite order. prompt is false if reading the probes took unusually long.
func (l *Load) readOpen(v wire.WindowSpec) (prompt bool) {
	l.Memory.Read(&l.open)
	l.sumsOpen = l.appendSums(v, l.sumsOpen[:0])
	began := sched.Monotonic()
	l.before = l.Probes.ReadBack(l.before)
	return l.wasPrompt(began)
}

func (l *Load) readShut(v wire.WindowSpec) (prompt bool) {
	began := sched.Monotonic()
	l.after = l.Probes.Read(l.after[:0])
	prompt = l.wasPrompt(began)
	l.Memory.Read(&l.shut)
	l.sumsShut = l.appendSums(v, l.sumsShut[:0])
	l.closed = true
	return prompt
}

// wasPrompt says whether reading the probes, from began until now, took at most twice the shortest
// time so far plus maxDelay.
func (l *Load) wasPrompt(began int64) bool {
	took := time.Duration(sched.Monotonic() - began)
	if l.leastReadTime == 0 || took < l.leastReadTime {
		l.leastReadTime = took
	}
	return took <= 2*l.leastReadTime+maxDelay
}

// appendSums appends the sums that the load itself keeps.
func (l *Load) appendSums(v wire.WindowSpec, to []counter.Sum) []counter.Sum {
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

// fillBetween sets time, operations and tare's own CPU time between two marks.
func fillBetween(out *wire.Sample, first, last mark) {
	out.Start = first.at
	out.Seconds, out.Ops = last.since(first)
	out.Self, out.SelfWall = time.Duration(last.cpu-first.cpu), time.Duration(last.at-first.at)
}

const (
	// maxTries is the largest number of readings at an edge. Readings with a delay above
	// maxDelay are taken again.
	maxTries = 3
	maxDelay = 200 * time.Microsecond

	// lead is the time from the readings to the opening of a window. Within it sysmon stops
	// polling: it polls every 20 µs, with 50 µs of timer slack. A window shorter than 15 ms
	// has a lead of a hundredth of its length.
	lead = 150 * time.Microsecond

	// pollInterval is the longest time between two calls of Ended.
	pollInterval = 100 * time.Millisecond
	// drainTimeout is how long Pause waits for operations in flight.
	drainTimeout = 200 * time.Millisecond
)

// Pause closes the gate of a load and waits until no operation is in flight, not
// longer than 200 ms.
func Pause(m *counter.Memory) {
	began := sched.Monotonic()
	m.SetGate(true)
	for m.InFlight() > 0 && sched.Monotonic() < began+int64(drainTimeout) {
		sched.SleepUntil(sched.Monotonic() + int64(200*time.Microsecond))
	}
}

// Sleep sleeps until a moment (CLOCK_MONOTONIC, ns). It calls ended every 100 ms and returns its
// error at once.
func Sleep(until int64, ended func() error) error {
	for now := sched.Monotonic(); now < until; now = sched.Monotonic() {
		if err := ended(); err != nil {
			return err
		}
		sched.SleepUntil(min(until, now+int64(pollInterval)))
	}
	return ended()
}
