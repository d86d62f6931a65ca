package launch

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// busy starts a process that computes, in a group if it is not nil.
func busy(t *testing.T, group *cgroup.Group) *os.Process {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if group != nil {
		if err := group.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	return cmd.Process
}

// runs says whether a process computes.
func runs(t *testing.T, p *os.Process) bool {
	t.Helper()
	used := func() int64 {
		ns, err := sched.ProcessCPUOf(p.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return ns
	}
	before := used()
	time.Sleep(500 * time.Millisecond)
	return used() > before
}

// untilFrozen waits until the guard has frozen the arms after Grace.
func untilFrozen(t *testing.T, g *Guard) {
	t.Helper()
	for end := time.Now().Add(Grace + time.Minute); g.watchdog.words.frozen.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the guard froze nothing")
		}
	}
}

// The guard freezes all groups when tare is silent for too long, also paused ones; tare then thaws those
// that it has not paused.
func TestGuardFreezes(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuard(t.TempDir(), "silent", tree)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Dismiss()
	processes, freezers := map[string]*os.Process{}, map[string]*guardedFreezer{}
	for _, name := range []string{"runs", "paused", "released"} {
		group, err := tree.Make(fmt.Sprintf("tare-silent%d/%s", os.Getpid(), name), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { group.Kill(); group.Remove() })
		f, err := group.Freezer()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		processes[name] = busy(t, &group)
		freezers[name] = g.Hold(f).(*guardedFreezer)
		if g.Hold(f) != freezers[name] {
			t.Error("a freezer is held twice")
		}
	}
	if err := freezers["paused"].Freeze(time.Second); err != nil {
		t.Fatal(err)
	}
	Release(freezers["released"])

	g.Attend()
	time.Sleep(Grace + 2*attendEvery) // longer than one silence
	if n := g.Froze(); n != 0 || !runs(t, processes["runs"]) {
		t.Errorf("a tare that is heard of was frozen %d times", n)
	}
	g.Allow(0)
	untilFrozen(t, g)
	if err := freezers["runs"].Freezer.Confirm(time.Minute); err != nil { // the guard does not wait for it
		t.Fatal(err)
	}
	if g.Silent() == nil || g.Extend(time.Hour) == nil {
		t.Error("tare does not see that it was silent")
	}
	for name, want := range map[string]bool{"runs": false, "paused": false, "released": true} {
		if got := runs(t, processes[name]); got != want {
			t.Errorf("%s runs: %v, while tare is silent", name, got)
		}
	}
	g.Allow(time.Hour)
	for name, want := range map[string]bool{"runs": true, "paused": false} {
		if got := runs(t, processes[name]); got != want {
			t.Errorf("%s runs: %v, when tare is back", name, got)
		}
	}
	if g.Froze() != 1 || g.Silent() != nil || g.Extend(time.Hour) != nil {
		t.Errorf("frozen %d times, silent %v", g.Froze(), g.Silent())
	}
	if err := freezers["paused"].Thaw(); err != nil || !runs(t, processes["paused"]) {
		t.Errorf("what was paused does not go on: %v", err)
	}
}

// Without control groups the guard stops tare's descendants by signals.
func TestGuardStops(t *testing.T) {
	g, err := NewGuard(t.TempDir(), "stopped", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Dismiss()
	p := busy(t, nil)
	child := exec.Command("/bin/sh", "-c", "sleep 1000 & wait")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { signalBelow(child.Process.Pid, syscall.SIGKILL); child.Wait() }()
	state := func(pid int) string {
		status, err := proc.FS("/").Status(pid)
		if err != nil {
			t.Fatal(err)
		}
		return status["State"]
	}
	for len(descendants(child.Process.Pid)) == 0 {
		time.Sleep(time.Millisecond)
	}
	grandchild := descendants(child.Process.Pid)[0].pid
	g.Allow(0)
	untilFrozen(t, g)
	for _, pid := range []int{p.Pid, child.Process.Pid, grandchild} {
		// One that waits for a CPU stops when it has one.
		for end := time.Now().Add(time.Minute); !strings.HasPrefix(state(pid), "T"); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d is %s", pid, state(pid))
			}
		}
	}
	if s := state(g.cmd.Process.Pid); strings.HasPrefix(s, "T") {
		t.Errorf("the guard is %s", s)
	}
	g.Allow(time.Hour)
	if !runs(t, p) {
		t.Error("it does not go on")
	}
	if s := state(grandchild); strings.HasPrefix(s, "T") {
		t.Errorf("the grandchild is %s", s)
	}
}

// When the guard claims a deadline while tare sets a new one, both sides know which came first.
func TestSilenceIsClaimedOnce(t *testing.T) {
	s, err := newWatchdog()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for range 2000 {
		s.words.deadline.Store(1)
		took := make(chan bool)
		go func() { took <- s.claim(1) }()
		late := s.allow(int64(time.Hour))
		if claimed := <-took; claimed != late {
			t.Fatalf("claimed: %v, late: %v", claimed, late)
		}
	}
}
