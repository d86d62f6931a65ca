package window_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// load counts one operation after the other and pauses only at its gate.
func load(t *testing.T) *counter.Memory {
	t.Helper()
	m, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	m.SetGate(true)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for s := m.Slot(0); !m.Stopped(); {
			start := m.Begin(s)
			time.Sleep(time.Millisecond)
			m.End(s, start, nil)
		}
	}()
	t.Cleanup(func() {
		m.Stop()
		m.SetGate(false)
		<-over
		m.Close()
	})
	return m
}

func goOn() error { return nil }

func TestCut(t *testing.T) {
	m := load(t)
	var said []string
	l := &window.Load{
		Memory: m, Probes: probe.OpenAll(nil, probe.Target{}), Ended: goOn,
		Opened: func() { said = append(said, "opened") }, Closing: func() { said = append(said, "closing") },
	}
	v := wire.WindowSpec{Discard: 20 * time.Millisecond, Length: 200 * time.Millisecond, Steady: 90 * time.Millisecond}
	for range 2 { // the second window reuses the buffers
		before := sched.Monotonic()
		l.Announce(v)
		m.SetGate(false)
		out, err := l.Cut(v)
		window.Pause(m)
		l.Fill(&out)
		if err != nil || m.InFlight() != 0 {
			t.Fatalf("%v, %d in flight", err, m.InFlight())
		}
		if out.Seconds < 0.2 || out.FirstSeconds < 0.1 || out.FirstSeconds >= out.Seconds || out.Ran.Seconds() < 0.31 {
			t.Errorf("%+v", out)
		}
		if out.Start < before+int64(v.Discard) {
			t.Error("the window began within the discard")
		}
		// Latencies are read outside of the two counts; one operation may have its latency
		// recorded and not be counted yet.
		if n := out.Latency.Total(); out.Ops == 0 || out.First > out.Ops || n+1 < out.Ops || out.SteadyRate <= 0 {
			t.Errorf("%d operations, %d in the first half, %d latencies, %g/s then", out.Ops, out.First, n, out.SteadyRate)
		}
		still := m.Ops()
		time.Sleep(20 * time.Millisecond)
		if m.Ops() != still {
			t.Error("it goes on after the pause")
		}
	}
	if said = slices.Compact(said); len(said) != 4 || said[0] != "opened" || said[1] != "closing" {
		t.Errorf("%q", said)
	}
}

// The CPU time of an arm is that of the window exactly, short or long: time used between the
// readings and the edges of the window does not count.
func TestCPUTimeOfTheWindow(t *testing.T) {
	dir := t.TempDir()
	uses := func(us int) {
		text := fmt.Sprintf("usage_usec %d\nuser_usec %d\nsystem_usec 0\n", us, us)
		if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	uses(0)
	probes := probe.OpenAll(probe.All()[:1], probe.Target{Root: "/", Group: cgroup.Group{Dirs: map[string]string{cgroup.Unified: dir}}})
	defer probes.Close()
	m := load(t)
	l := &window.Load{Memory: m, Probes: probes, Ended: goOn}
	l.Opened = func() {
		uses(5_000_000)
		time.AfterFunc(10*time.Millisecond, func() { uses(7_000_000) })
	}
	l.Closing = func() { uses(9_000_000) }
	for _, c := range []struct {
		length time.Duration
		gone   bool
	}{{100 * time.Millisecond, false}, {250 * time.Millisecond, false}, {100 * time.Millisecond, true}} {
		uses(0)
		if c.gone {
			l.Opened = func() { os.Truncate(filepath.Join(dir, "cpu.stat"), 0) }
		}
		v := wire.WindowSpec{Length: c.length}
		l.Announce(v)
		m.SetGate(false)
		out, err := l.Cut(v)
		window.Pause(m)
		l.Fill(&out)
		if err != nil {
			t.Fatal(err)
		}
		if x, known := out.Probes["cpu.time"].Get(); known == c.gone || known && x != 2 {
			t.Errorf("%v, the file was emptied: %v: %g s, known: %v; want 2 s", c.length, c.gone, x, known)
		}
	}
}

// The same for processes whose CPU time no group counts.
func TestCPUTimeOfProcesses(t *testing.T) {
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		busy.Process.Kill()
		busy.Wait()
	}()
	probes := probe.OpenAll(probe.All()[:1], probe.Target{Root: "/", Pids: []int{busy.Process.Pid}})
	defer probes.Close()
	m := load(t)
	wait := func() { time.Sleep(100 * time.Millisecond) }
	l := &window.Load{Memory: m, Probes: probes, Ended: goOn, Opened: wait, Closing: wait}
	for _, length := range []time.Duration{50 * time.Millisecond, 150 * time.Millisecond} {
		v := wire.WindowSpec{Length: length}
		l.Announce(v)
		m.SetGate(false)
		out, err := l.Cut(v)
		window.Pause(m)
		l.Fill(&out)
		x, known := out.Probes["cpu.time"].Get()
		if err != nil || !known || x <= 0 || x > out.Seconds+0.01 {
			t.Errorf("%g s of CPU time (known: %v) in %g s: %v", x, known, out.Seconds, err)
		}
	}
}

func TestTrace(t *testing.T) {
	m := load(t)
	l := &window.Load{Memory: m, Probes: probe.OpenAll(nil, probe.Target{}), Ended: goOn}
	v := wire.WindowSpec{Length: 200 * time.Millisecond, Tick: 10 * time.Millisecond}
	l.Announce(v)
	m.SetGate(false)
	out, err := l.Cut(v)
	window.Pause(m)
	sum := 0.0
	for _, n := range out.Ticks {
		sum += n
	}
	if err != nil || len(out.Ticks) != 20 || sum != float64(out.Ops) || sum == 0 {
		t.Errorf("%v of %d, %v", out.Ticks, out.Ops, err)
	}
}

// A window with Whole has no middle.
func TestWhole(t *testing.T) {
	m := load(t)
	l := &window.Load{Memory: m, Probes: probe.OpenAll(nil, probe.Target{}), Ended: goOn}
	for _, whole := range []bool{true, false} {
		v := wire.WindowSpec{Length: 60 * time.Millisecond, Whole: whole}
		l.Announce(v)
		m.SetGate(false)
		out, err := l.Cut(v)
		window.Pause(m)
		if err != nil || out.Seconds < 0.06 || out.Ops == 0 || out.SelfWall.Seconds() < 0.06 || (out.FirstSeconds > 0) == whole || out.First > 0 && whole {
			t.Errorf("%v: %+v", err, out)
		}
	}
}

// A window that is given up has no readings, and not those of the window before.
func TestEnded(t *testing.T) {
	m := load(t)
	l := &window.Load{Memory: m, Probes: probe.OpenAll(nil, probe.Target{}), Ended: goOn}
	v := wire.WindowSpec{Length: 50 * time.Millisecond}
	gone := errors.New("gone")
	for _, want := range []error{nil, gone} {
		l.Ended = func() error { return want }
		l.Announce(v)
		m.SetGate(false)
		out, err := l.Cut(v)
		window.Pause(m)
		l.Fill(&out)
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if ops := out.Latency.Total(); (want == nil) != (ops > 0) || (want == nil) != (out.Seconds > 0) {
			t.Errorf("%v: %d latencies in %g s", want, ops, out.Seconds)
		}
	}
}

// A load that does not answer is waited for until its limit; a load that has failed is not
// waited for.
func TestNoAnswer(t *testing.T) {
	for _, failed := range []bool{false, true} {
		m, err := counter.Create(1)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if failed {
			m.Fail("no such table")
		}
		l := &window.Load{Memory: m, Probes: probe.OpenAll(nil, probe.Target{}), Ended: goOn}
		v := wire.WindowSpec{Length: 10 * time.Millisecond, Asked: true, Limit: 50 * time.Millisecond}
		l.Announce(v)
		_, err = l.Cut(v)
		want := "the load did not answer within 50ms"
		if failed {
			want = "the load gave up: no such table"
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
