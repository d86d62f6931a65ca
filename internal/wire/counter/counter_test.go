package counter

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

func create(t testing.TB, threads int) *Memory {
	t.Helper()
	m, err := Create(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// other maps the segment a second time, as the other process does.
func other(t testing.TB, m *Memory) *Memory {
	t.Helper()
	fd, err := unix.Dup(int(m.File().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	o, err := Open(os.NewFile(uintptr(fd), "counters"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func TestLayout(t *testing.T) {
	if n := unsafe.Sizeof(header{}); n > pageBytes {
		t.Errorf("the header takes %d bytes, more than its page of %d", n, pageBytes)
	}
	if n := unsafe.Offsetof(Slot{}.buckets); n != slotHead {
		t.Errorf("the buckets of a slot begin at %d, want %d", n, slotHead)
	}
	if n := unsafe.Sizeof(Slot{}); n > slotBytes || slotBytes%pageBytes != 0 {
		t.Errorf("a slot takes %d bytes of %d, which must be whole pages", n, slotBytes)
	}
	if n := unsafe.Offsetof(header{}.gate); n%8 != 0 {
		t.Errorf("the gate is at %d, a futex that 64-bit neighbours need at a multiple of 8", n)
	}
}

// The run may be cut anywhere: what the slices hold adds up to what was done,
// exactly, and nothing is counted while the gate is closed.
func TestSlicesAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		threads := rapid.IntRange(1, 4).Draw(rt, "threads")
		runs := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 6).Draw(rt, "microseconds between pauses")
		m, err := Create(threads)
		if err != nil {
			rt.Fatal(err)
		}
		defer m.Close()
		done := startThreads(m)
		var before, now, sum Snapshot
		var latency record.Histogram
		slice := func() {
			m.Read(&now)
			h := now.Since(&before)
			latency = record.Merge(latency, h)
			sum.Ops += now.Ops - before.Ops
			sum.Errors += now.Errors - before.Errors
			sum.Cut += now.Cut - before.Cut
			if got, want := h.Total()+now.Cut-before.Cut, now.Ops-before.Ops; got != want {
				rt.Errorf("a slice has %d operations, but %d of them in its histogram or cut", want, got)
			}
			before, now = now, before
		}
		for _, us := range runs {
			time.Sleep(time.Duration(us) * time.Microsecond)
			pause(m)
			slice()
			if more := m.Ops() - before.Ops; more != 0 {
				rt.Errorf("%d operations counted while paused", more)
			}
			m.MarkThaw()
			m.SetGate(false)
		}
		m.Stop()
		ops, errs := done()
		slice()
		if sum.Ops != ops || sum.Errors != errs {
			rt.Errorf("slices hold %d operations and %d errors, the threads did %d and %d", sum.Ops, sum.Errors, ops, errs)
		}
		if latency.Total()+sum.Cut != ops {
			rt.Errorf("histograms hold %d operations and %d were cut, the threads did %d", latency.Total(), sum.Cut, ops)
		}
	})
}

// startThreads counts in every slot until Stop; done waits and says how much
// the threads did.
func startThreads(m *Memory) (done func() (ops, errs uint64)) {
	var wg sync.WaitGroup
	did := make([]struct{ ops, errs uint64 }, m.Threads())
	for i := range m.Threads() {
		wg.Go(func() {
			rng, slot := rand.New(rand.NewPCG(1, uint64(i))), m.Slot(i)
			for !m.Stopped() {
				start := m.Begin(slot)
				if rng.IntN(10) == 0 {
					did[i].errs++
					m.End(slot, start, errors.New("one in ten"))
					continue
				}
				did[i].ops++
				m.End(slot, start, nil)
				if rng.IntN(100) == 0 {
					runtime.Gosched() // there may be fewer CPUs than threads
				}
			}
		})
	}
	return func() (ops, errs uint64) {
		wg.Wait()
		for _, d := range did {
			ops, errs = ops+d.ops, errs+d.errs
		}
		return ops, errs
	}
}

func pause(m *Memory) {
	m.SetGate(true)
	for m.InFlight() > 0 {
		runtime.Gosched()
	}
}

func TestAnOperationOverAPauseHasNoLatency(t *testing.T) {
	m := create(t, 1)
	slot := m.Slot(0)
	start := m.Begin(slot)
	if m.InFlight() != 1 {
		t.Error("begun, but not in flight")
	}
	m.MarkThaw()
	m.End(slot, start, nil)
	m.End(slot, m.Begin(slot), nil)
	m.End(slot, m.Begin(slot), errors.New("failed"))
	m.Begin(slot)
	slot.Idle()
	slot.Late()
	slot.SetBacklog(7)
	var s, zero Snapshot
	m.Read(&s)
	if s.Ops != 2 || s.Cut != 1 || s.Errors != 1 || s.Late != 1 || s.Backlog != 7 || s.Since(&zero).Total() != 1 || m.InFlight() != 0 {
		t.Errorf("want 2 operations, 1 of them cut, 1 latency and 1 error; got %+v and %d latencies",
			Snapshot{Ops: s.Ops, Cut: s.Cut, Errors: s.Errors}, s.Since(&zero).Total())
	}
}

// Both sides of a segment see the same, and agree on the time.
func TestTwoMappings(t *testing.T) {
	m := create(t, 3)
	o := other(t, m)
	if o.Threads() != 3 {
		t.Fatalf("%d slots, want 3", o.Threads())
	}
	o.SetReady()
	m.SetSeed(42)
	m.MarkThaw()
	m.SetGate(true)
	if state, _ := m.State(); state != Ready || o.Seed() != 42 || o.Thawed() == 0 || !o.Paused() {
		t.Error("one side does not see what the other wrote")
	}
	m.SetGate(false)
	o.End(o.Slot(2), o.Begin(o.Slot(2)), nil)
	if m.Ops() != 1 {
		t.Errorf("%d operations, want 1", m.Ops())
	}
	if w := m.Words(); len(w) != 3 || *w[0] != 0 || *w[1] != 0 || *w[2] != 1 {
		t.Errorf("the words of the operations are %v, want the third to be 1", w)
	}
	var low, high unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &low)
	a, b := m.Now(), o.Now()
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &high)
	const tied = int64(time.Millisecond) // far more than the tightest of 100 tries
	for _, now := range []int64{a, b} {
		if now < low.Nano()-tied || now > high.Nano()+tied {
			t.Errorf("Now is %d, CLOCK_MONOTONIC between %d and %d", now, low.Nano(), high.Nano())
		}
	}
}

func TestTheGateHoldsUntilOpenedOrStopped(t *testing.T) {
	for _, release := range []struct {
		name string
		do   func(*Memory)
	}{
		{"opened", func(m *Memory) { m.SetGate(false) }},
		{"stopped", (*Memory).Stop},
	} {
		t.Run(release.name, func(t *testing.T) {
			m := create(t, 1)
			o := other(t, m)
			m.SetGate(true)
			began := make(chan struct{})
			go func() {
				o.Begin(o.Slot(0))
				close(began)
			}()
			select {
			case <-began:
				t.Fatal("an operation began behind the closed gate")
			case <-time.After(20 * time.Millisecond):
			}
			if release.name == "stopped" {
				m = o // stopping is a matter of the process that waits
			}
			release.do(m)
			<-began
		})
	}
}

func TestFail(t *testing.T) {
	m := create(t, 1)
	m.Fail(strings.Repeat("x", noteBytes-1) + "é") // cut inside a character
	m.Fail("second")
	state, note := m.State()
	if state != Failed || note != strings.Repeat("x", noteBytes-1) {
		t.Errorf("state %d, note of %d bytes ending in %q", state, len(note), note[len(note)-5:])
	}
}

func TestThreadsOutOfRange(t *testing.T) {
	for _, n := range []int{-1, 0, MaxThreads + 1} {
		if m, err := Create(n); err == nil {
			m.Close()
			t.Errorf("%d threads were accepted", n)
		}
	}
}

func TestOpenRefusesWhatIsNotCounters(t *testing.T) {
	sized := func(n int64, first []byte) func(*os.File) {
		return func(f *os.File) {
			f.Write(first)
			f.Truncate(n)
		}
	}
	slots := func(n byte) []byte { return []byte{'t', 'a', 'r', 'e', '1', 0, 0, 0, n, 0xff, 0, 0, 0, 0, 0, 0} }
	for name, write := range map[string]func(*os.File){
		"empty":            sized(0, nil),
		"too small":        sized(pageBytes, nil),
		"zeros":            sized(pageBytes+slotBytes, nil),
		"too many threads": sized(pageBytes+slotBytes, slots(1)),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			write(f)
			if _, err := Open(f); err == nil {
				t.Error("was accepted")
			}
		})
	}
}

// A step of the wall clock before a load opens the memory changes nothing.
func TestClockStep(t *testing.T) {
	if timeSpace() == 0 {
		t.Skip("the kernel has no time namespaces")
	}
	m := create(t, 1)
	m.head.epoch.Add(int64(time.Hour))
	o := other(t, m)
	before := m.Now()
	if there := o.Now(); there < before-int64(time.Second) || there > m.Now()+int64(time.Second) {
		t.Errorf("%d ns, want %d", there, before)
	}
}

// Behind a kernel of its own a load's CLOCK_MONOTONIC began at another time.
func TestClockOfAnotherKernel(t *testing.T) {
	m := create(t, 1)
	const later, slack = int64(time.Hour), int64(time.Second) // of a wall clock that is set meanwhile
	m.head.epoch.Add(-later)
	m.head.space.Store(0)
	o := other(t, m)
	before := m.Now()
	there := o.Now()
	after := m.Now()
	if there < before+later-slack || there > after+later+slack {
		t.Errorf("%d ns, want between %d and %d", there, before+later, after+later)
	}
}
