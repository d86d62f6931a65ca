package afar

import (
	"errors"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/probe"
)

// led is the load that the keeper leads.
type led struct {
	memory     *counter.Memory
	probes     *probe.Set
	done       <-chan struct{} // closed when its process has ended
	open, shut counter.Snapshot

	before, after []float64
}

// errEnded means that the load ended in a visit.
var errEnded = errors.New("the load has ended")

// mark is one moment of an open window.
type mark struct {
	at  int64 // CLOCK_MONOTONIC ns
	ops uint64
}

func (l *led) mark() mark { return mark{sched.Monotonic(), l.memory.Ops()} }

func (m mark) since(earlier mark) (seconds float64, ops uint64) {
	return float64(m.at-earlier.at) * 1e-9, m.ops - earlier.ops
}

// until sleeps, in slices so that the end of the load is seen soon.
func (l *led) until(at int64) error {
	const slice = int64(100 * time.Millisecond)
	for now := sched.Monotonic(); now < at; now = sched.Monotonic() {
		select {
		case <-l.done:
			return errEnded
		default:
		}
		sched.SleepUntil(min(at, now+slice))
	}
	return nil
}

// visit thaws the load by its gate, reads what is asked for and closes the gate
// again, whatever happens.
func (l *led) visit(v environment.Visit) (out environment.Visited, err error) {
	var asked counter.Request
	if v.Asked {
		l.memory.SetMode(v.Mode)
		asked = l.memory.Ask(v.Length, v.Discard)
	}
	l.memory.SetSeed(v.Seed)
	began := sched.Monotonic()
	l.memory.MarkThaw()
	l.memory.SetGate(false)
	defer func() {
		out.Ran = time.Duration(sched.Monotonic() - began)
		out.Pausing = l.pause()
	}()
	switch {
	case v.Asked:
		err = l.answer(&out, v, asked)
	case v.Tick > 0:
		err = l.trace(&out, v, began)
	default:
		err = l.window(&out, v, began)
	}
	return out, err
}

// pause closes the gate and waits until nothing is in flight, at most drainBound.
func (l *led) pause() time.Duration {
	began := sched.Monotonic()
	l.memory.SetGate(true)
	for l.memory.InFlight() > 0 && sched.Monotonic() < began+int64(drainBound) {
		sched.SleepUntil(sched.Monotonic() + int64(200*time.Microsecond))
	}
	return time.Duration(sched.Monotonic() - began)
}

// window measures from the end of the discard on.
func (l *led) window(out *environment.Visited, v environment.Visit, began int64) error {
	if err := l.until(began + int64(v.Discard)); err != nil {
		return err
	}
	l.openWindow(out, v)
	first := l.mark()
	if err := l.until(first.at + int64(v.Length)/2); err != nil {
		return err
	}
	middle := l.mark()
	if err := l.until(first.at + int64(v.Length)); err != nil {
		return err
	}
	last := l.mark()
	l.shutWindow(out, v)
	out.Start = first.at
	out.Seconds, out.Ops = last.since(first)
	out.FirstSeconds, out.First = middle.since(first)
	if v.Steady == 0 {
		return nil
	}
	begin := sched.Monotonic()
	if err := l.until(begin + int64(v.Steady)/3); err != nil {
		return err
	}
	from := l.mark()
	if err := l.until(begin + int64(v.Steady)); err != nil {
		return err
	}
	seconds, ops := l.mark().since(from)
	out.SteadyRate = float64(ops) / seconds
	return nil
}

// answer measures what the load says that its window was.
func (l *led) answer(out *environment.Visited, v environment.Visit, r counter.Request) error {
	if err := l.await(v.Discard+v.Limit, func(d time.Duration) bool { return l.memory.Began(r, d) }); err != nil {
		return err
	}
	l.openWindow(out, v)
	first := l.mark()
	var said counter.Answer
	err := l.await(v.Length+v.Limit, func(d time.Duration) (ok bool) {
		said, ok = l.memory.Answered(r, d)
		return ok
	})
	if err != nil {
		return err
	}
	_, out.Ops = l.mark().since(first)
	l.shutWindow(out, v)
	out.Start, out.Seconds, out.First, out.FirstSeconds = first.at, said.Seconds, said.First, said.FirstSeconds
	return nil
}

// await waits for something that the load does.
func (l *led) await(limit time.Duration, done func(time.Duration) bool) error {
	const slice = 100 * time.Millisecond
	for end := sched.Monotonic() + int64(limit); !done(slice); {
		select {
		case <-l.done:
			return errEnded
		default:
		}
		if state, note := l.memory.State(); state == counter.Failed {
			return fmt.Errorf("the load gave up: %s", note)
		}
		if sched.Monotonic() > end {
			return fmt.Errorf("the load did not answer within %v", limit)
		}
	}
	return nil
}

// trace counts the operations of each tick.
func (l *led) trace(out *environment.Visited, v environment.Visit, began int64) error {
	last := l.memory.Ops()
	for next := began; len(out.Ticks) < int(v.Length/v.Tick); {
		next += int64(v.Tick)
		if err := l.until(next); err != nil {
			return err
		}
		now := l.memory.Ops()
		out.Ticks = append(out.Ticks, float64(now-last))
		last = now
	}
	return nil
}

// openWindow reads the counters, then the probes; shutWindow the other way round.
func (l *led) openWindow(out *environment.Visited, v environment.Visit) {
	l.memory.Read(&l.open)
	out.Open = l.said(v)
	l.before = l.probes.Read(l.before[:0])
}

func (l *led) shutWindow(out *environment.Visited, v environment.Visit) {
	l.after = l.probes.Read(l.after[:0])
	l.memory.Read(&l.shut)
	out.Shut = l.said(v)
	out.Errors, out.Cut = l.shut.Errors-l.open.Errors, l.shut.Cut-l.open.Cut
	out.Late, out.Backlog = l.shut.Late-l.open.Late, l.shut.Backlog
	out.Latency = l.shut.Since(&l.open)
	out.Probes = l.probes.Values(l.before, l.after)
}

// said are the numbers that the load adds up itself.
func (l *led) said(v environment.Visit) (all []counter.Sum) {
	for i := range min(v.Values, counter.MaxValues) {
		all = append(all, l.memory.Value(i))
	}
	return all
}
