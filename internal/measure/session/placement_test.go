package session

import (
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// listed are the threads of an arm of a test.
type listed struct{ ids []int }

func (l *listed) List(dst []int) []int { return append(dst, l.ids...) }
func (l *listed) Close() error         { return nil }

// sleeper starts a process of one thread and returns its id.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func cpusOf(t *testing.T, tid int) (set unix.CPUSet) {
	t.Helper()
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// Every thread is bound to one of its own CPUs, each of them in its turn, and has all of them afterwards; a thread that
// was made meanwhile too. A thread that may use one CPU keeps it, and one that has ended is no error.
func TestPlacement(t *testing.T) {
	whole := cpusOf(t, 0)
	if whole.Count() < 2 {
		t.Skip("one CPU")
	}
	first, alone := sleeper(t), sleeper(t)
	if err := bind(alone, only(nth(&whole, 1))); err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	all := &listed{[]int{first, alone, gone.Process.Pid}}
	p := &placement{threads: all}
	seen := map[int]int{}
	for seed := range uint64(400) {
		if err := p.draw(seed); err != nil {
			t.Fatal(err)
		}
		now := cpusOf(t, first)
		if now.Count() != 1 || len(p.bound) != 1 || !whole.IsSet(p.bound[0].cpu) || !now.IsSet(p.bound[0].cpu) {
			t.Fatalf("bound to %v: %+v", now, p.bound)
		}
		seen[p.bound[0].cpu]++
		if err := p.release(); err != nil {
			t.Fatal(err)
		}
		if cpusOf(t, first) != whole || cpusOf(t, alone) != only(nth(&whole, 1)) {
			t.Fatal("other CPUs than before")
		}
	}
	for cpu := range whole.Count() {
		if n := seen[nth(&whole, cpu)]; n < 200/whole.Count() {
			t.Errorf("CPU %d was drawn %d times in 400: %v", cpu, n, seen)
		}
	}
	if err := p.draw(1); err != nil {
		t.Fatal(err)
	}
	late := sleeper(t)
	if err := bind(late, only(p.bound[0].cpu)); err != nil {
		t.Fatal(err)
	}
	all.ids = slices.Insert(all.ids, 0, late)
	if err := p.hold(); err != nil {
		t.Fatal(err)
	}
	if cpusOf(t, late) != whole || cpusOf(t, first) != whole {
		t.Error("a thread that was made meanwhile keeps one CPU")
	}
}
