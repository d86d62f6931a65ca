package workloadtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire/counter"
)

func live(t *testing.T, w workload.Workload, fast map[string]string) {
	s := mustStages(t, w, fast)
	a := launch(t, s)
	if s.Windowed != nil {
		liveAsked(t, s, a)
		return
	}
	a.Goes(t, 50)
	t.Run("goes first", func(t *testing.T) { goesFirst(t, a) })
	t.Run("counts", func(t *testing.T) { counts(t, a) })
	t.Run("gate", func(t *testing.T) { gate(t, a) })
	t.Run("freeze", func(t *testing.T) { freeze(t, a) })
	t.Run("slices", func(t *testing.T) { cutUp(t, a) })
	t.Run("killed", func(t *testing.T) { killed(t, s, a) })
	t.Run("told to end", func(t *testing.T) { toldToEnd(t, s, a) })
}

// counts checks that each operation has a latency and that the median is between 50 ns and 60 s.
func counts(t *testing.T, a *launchedLoad) {
	a.pause(t)
	defer a.carryOn()
	var now, zero counter.Snapshot
	a.Counters.Read(&now)
	h := now.Since(&zero)
	if h.Total()+now.Cut != now.Ops {
		t.Errorf("%d operations, but %d latencies and %d cut", now.Ops, h.Total(), now.Cut)
	}
	if p50 := h.Quantile(0.5); !(p50 > 50e-9 && p50 < 60) {
		t.Errorf("the median latency is %g s", p50)
	}
	if now.Errors != 0 {
		t.Errorf("%d errors", now.Errors)
	}
}

// pause closes the gate and waits until nothing is in flight.
func (a *launchedLoad) pause(t *testing.T) {
	t.Helper()
	a.Counters.SetGate(true)
	Eventually(t, "paused by its gate", func() bool { return a.Counters.InFlight() == 0 })
}

func (a *launchedLoad) carryOn() {
	a.Counters.MarkThaw()
	a.Counters.SetGate(false)
}

func gate(t *testing.T, a *launchedLoad) {
	a.pause(t)
	before := a.Counters.Ops()
	time.Sleep(50 * time.Millisecond)
	if more := a.Counters.Ops() - before; more != 0 || a.Counters.InFlight() != 0 {
		t.Errorf("%d operations behind the closed gate, %d in flight", more, a.Counters.InFlight())
	}
	a.carryOn()
	a.Goes(t, 20)
}

// freeze checks that stopping the processes at any instant causes no error, and that no latency includes
// the pause. On a busy machine a thread can wait as long without any stop, so one clean try is enough.
func freeze(t *testing.T, a *launchedLoad) {
	const pause, tries = 500 * time.Millisecond, 20
	longest := 0.0
	for range tries {
		if longest = stopFor(t, a, pause); longest < pause.Seconds() {
			return
		}
	}
	t.Errorf("a latency of %g s, the pause of %v is in it", longest, pause)
}

// stopFor stops all processes for pause, continues them and returns the longest latency since.
func stopFor(t *testing.T, a *launchedLoad, pause time.Duration) (longest float64) {
	stopAll(t, a.Processes)
	var before, after counter.Snapshot
	a.Counters.Read(&before)
	inFlight := uint64(a.Counters.InFlight())
	time.Sleep(pause)
	if a.Counters.Ops() != before.Ops {
		t.Error("operations were counted while stopped")
	}
	a.Counters.MarkThaw()
	for _, p := range a.Processes {
		p.SignalAll(t, unix.SIGCONT)
	}
	a.Goes(t, 50)
	a.Counters.Read(&after)
	if after.Errors != before.Errors {
		t.Errorf("%d errors by stopping", after.Errors-before.Errors)
	}
	inFlight *= uint64(max(1, a.Together))
	if n := after.Cut - before.Cut; n > inFlight {
		t.Errorf("%d operations were cut, but %d were in flight", n, inFlight)
	}
	return after.Since(&before).Quantile(1)
}

// cutUp checks that the counts of many short windows add up to those of the whole.
func cutUp(t *testing.T, a *launchedLoad) {
	var first, before, now counter.Snapshot
	a.pause(t)
	a.Counters.Read(&first)
	a.Counters.Read(&before)
	var ops, latencies, cut uint64
	for i := range 10 {
		a.carryOn()
		time.Sleep(time.Duration(i) * time.Millisecond)
		a.pause(t)
		a.Counters.Read(&now)
		ops += now.Ops - before.Ops
		cut += now.Cut - before.Cut
		latencies += now.Since(&before).Total()
		before, now = now, before
	}
	if ops != before.Ops-first.Ops || latencies != before.Since(&first).Total() || latencies+cut != ops {
		t.Errorf("slices hold %d operations, %d latencies and %d cut; the whole %d, %d and %d",
			ops, latencies, cut, before.Ops-first.Ops, before.Since(&first).Total(), before.Cut-first.Cut)
	}
	a.carryOn()
}

// killed checks that the counts survive SIGKILL and that the load starts again in the same place.
func killed(t *testing.T, s workload.Stages, a *launchedLoad) {
	for i := range a.Processes { // the load first, because it may end when its server does
		a.Processes[len(a.Processes)-1-i].SignalAll(t, unix.SIGKILL)
	}
	for _, p := range a.Processes {
		p.Exit(t)
	}
	var now, zero counter.Snapshot
	a.Counters.Read(&now)
	if now.Ops == 0 || now.Since(&zero).Total()+now.Cut+uint64(a.Counters.Threads()) < now.Ops {
		t.Errorf("after the kill %d operations with %d latencies are left", now.Ops, now.Since(&zero).Total())
	}
	relaunch(t, s, a.Place).Goes(t, 20)
}

// goesFirst checks that the OOM killer prefers the load to the host's own processes.
func goesFirst(t *testing.T, a *launchedLoad) {
	for _, p := range a.Processes {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.Pid()))
		if n, _ := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || n < 900 {
			t.Errorf("process %d has oom_score_adj %q (%v), want 900 at least", p.Pid(), b, err)
		}
	}
}

// toldToEnd checks that SIGTERM ends the load without an error, also behind a closed gate.
func toldToEnd(t *testing.T, s workload.Stages, a *launchedLoad) {
	for _, closed := range []bool{false, true} {
		b := relaunch(t, s, a.Place)
		b.Goes(t, 20)
		b.Counters.SetGate(closed)
		for i := range b.Processes { // the load first, its server then
			p := b.Processes[len(b.Processes)-1-i]
			p.Signal(t, unix.SIGTERM)
			if code := p.Exit(t); code != 0 {
				t.Errorf("gate closed %v: ended with %d: %s", closed, code, p.Said())
			}
		}
		if state, note := b.Counters.State(); state != counter.Ready {
			t.Errorf("gate closed %v: the state became %d %q", closed, state, note)
		}
		var now counter.Snapshot
		if b.Counters.Read(&now); now.Errors != 0 {
			t.Errorf("gate closed %v: ending made %d errors", closed, now.Errors)
		}
	}
}
