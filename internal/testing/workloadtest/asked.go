package workloadtest

import (
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Window requests the shortest window and waits for the answer.
func (a *launchedLoad) Window(t testing.TB) counter.Answer {
	t.Helper()
	return a.finish(t, a.Counters.Ask(a.Windowed.Least, a.Windowed.Discard))
}

func (a *launchedLoad) finish(t testing.TB, r counter.Request) (answer counter.Answer) {
	t.Helper()
	a.await(t, "began", func() bool { return a.Counters.Began(r, 0) })
	a.await(t, "answered", func() (ok bool) {
		answer, ok = a.Counters.Answered(r, 0)
		return ok
	})
	return answer
}

func (a *launchedLoad) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Eventually(t, what, func() bool {
		if state, note := a.Counters.State(); state == counter.Failed || a.Load().Ended() {
			t.Fatalf("the load ended: %s %s", note, a.Load().Said())
		}
		return holds()
	})
}

// liveAsked is live for a load that has to be asked for each window.
func liveAsked(t *testing.T, s workload.Stages, a *launchedLoad) {
	t.Run("windows", func(t *testing.T) { windows(t, s, a) })
	t.Run("idle", func(t *testing.T) { idle(t, a) })
	t.Run("freeze", func(t *testing.T) { freezeAsked(t, a) })
	t.Run("killed", func(t *testing.T) { killed(t, s, a) })
	t.Run("told to end", func(t *testing.T) { toldToEndAsked(t, s, a) })
}

// windows checks that each answer has a length, operations and all values of the description. On a
// busy host a window can have too few operations for a p99: then it requests a longer one.
func windows(t *testing.T, s workload.Stages, a *launchedLoad) {
	const longest = 64
	for range 2 {
		silent := []string{""}
		for times := 1; len(silent) > 0 && times <= longest; times *= 4 {
			silent = window(t, s, a, time.Duration(times)*s.Windowed.Least)
		}
		if len(silent) > 0 {
			t.Errorf("no value for %v", silent)
		}
	}
}

// window requests one window and returns the values that the answer lacks.
func window(t *testing.T, s workload.Stages, a *launchedLoad, length time.Duration) (silent []string) {
	t.Helper()
	var before, after counter.Snapshot
	a.Counters.Read(&before)
	sums := make([]counter.Sum, len(s.Values))
	for i := range sums {
		sums[i] = a.Counters.Value(i)
	}
	answer := a.finish(t, a.Counters.Ask(length, s.Windowed.Discard))
	a.Counters.Read(&after)
	asked := length.Seconds()
	if answer.Seconds < 0.95*asked {
		t.Errorf("asked for %v s, got %v", asked, answer.Seconds)
	}
	ops, latencies := after.Ops-before.Ops, after.Since(&before).Total()
	// A tool may count an operation at its start and the latency at its end.
	if ops == 0 || latencies > ops+ops/2 || latencies < ops/2 {
		t.Errorf("%d operations, %d latencies", ops, latencies)
	}
	if after.Errors != before.Errors {
		t.Errorf("%d errors: %s", after.Errors-before.Errors, a.Load().Said())
	}
	for i, m := range s.Values {
		if x := a.Counters.Value(i).Mean(sums[i]); math.IsNaN(x) {
			silent = append(silent, m.Name)
		}
	}
	return silent
}

// idle checks that the load does nothing between windows.
func idle(t *testing.T, a *launchedLoad) {
	before := a.Counters.Ops()
	time.Sleep(50 * time.Millisecond)
	if n := a.Counters.Ops() - before; n != 0 || a.Counters.InFlight() != 0 {
		t.Errorf("%d operations that nobody asked for", n)
	}
}

// freezeAsked checks that a load that is stopped and continued during a window answers it. Its children
// are not stopped: SIGSTOP between fork and exec would block the parent, which only a freezer avoids.
func freezeAsked(t *testing.T, a *launchedLoad) {
	r := a.Counters.Ask(a.Windowed.Least, 0)
	for _, p := range a.Processes {
		p.Signal(t, unix.SIGSTOP)
	}
	time.Sleep(20 * time.Millisecond)
	a.Counters.MarkThaw()
	for _, p := range a.Processes {
		p.Signal(t, unix.SIGCONT)
	}
	a.finish(t, r)
}

// toldToEndAsked checks that SIGTERM, between windows and during one, ends the load without an error.
func toldToEndAsked(t *testing.T, s workload.Stages, a *launchedLoad) {
	for _, busy := range []bool{false, true} {
		b := relaunch(t, s, a.Place)
		b.Window(t)
		if busy {
			r := b.Counters.Ask(time.Minute, 0)
			b.await(t, "began", func() bool { return b.Counters.Began(r, 0) })
		}
		for i := range b.Processes {
			p := b.Processes[len(b.Processes)-1-i]
			p.Signal(t, unix.SIGTERM)
			if code := p.Exit(t); code != 0 {
				t.Errorf("in a window %v: ended with %d: %s", busy, code, p.Said())
			}
		}
		var now counter.Snapshot
		if b.Counters.Read(&now); now.Errors != 0 {
			t.Errorf("in a window %v: ending made %d errors", busy, now.Errors)
		}
	}
}
