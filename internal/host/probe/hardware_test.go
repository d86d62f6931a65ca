package probe

import (
	"errors"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/perf"
)

// Software events, which every kernel has, are counted by the same calls as the CPU's events,
// which most virtual machines do not show.
func TestEventsOfAGroup(t *testing.T) {
	g := groupHere(t)
	if _, err := g.Dir(cgroup.Unified); err != nil {
		t.Skip("perf_event is in a hierarchy of version 1 here:", err)
	}
	r, err := hardware{}.count(here(g), perf.TaskClock, perf.ContextSwitches)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}()
	if got := r.Read(nil); got[0] != 0 || got[1] != 0 {
		t.Errorf("a group without a process: %v", got)
	}
	start(t, g, "spin", "")
	before, began := r.Read(nil), time.Now()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		after, took := r.Read(nil), time.Since(began)
		if busy := time.Duration(after[0] - before[0]); busy > 200*time.Millisecond && after[1] >= before[1] {
			if busy > took+10*time.Millisecond {
				t.Errorf("one thread was busy for %v of %v", busy, took)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("from %v to %v: %s", before, after, r.Reason(0))
		}
	}
}

// A counter that is missing has its reason: the CPU has none, or the arm has no group.
func TestNoHardwareCounters(t *testing.T) {
	if _, err := (hardware{}).Open(here(cgroup.Group{})); err == nil {
		t.Error("an arm without a group is counted")
	}
	g := groupHere(t)
	start(t, g, "spin", "")
	r, err := hardware{}.Open(here(g))
	if errors.Is(err, perf.ErrNone) {
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := r.Read(nil)
	time.Sleep(200 * time.Millisecond)
	if after := r.Read(nil); !(after[0] > before[0] && after[1] > before[1]) {
		t.Errorf("cycles and instructions of a busy thread: from %v to %v", before, after)
	}
}
