package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/proc"
)

// soon is the time limit of every wait; a disk that others use can stall for seconds.
const soon = 5 * time.Minute

// eachKind runs a test with each freezer that the machine has.
func eachKind(t *testing.T, test func(t *testing.T, open func(...Group) *Freezer, tree *Tree)) {
	for _, kind := range []string{freezerV1, freezerV2} {
		t.Run(kind, func(t *testing.T) {
			tree := realTree(t)
			if kind == freezerV1 && tree.at[freezer] == "" || kind == freezerV2 && !tree.freezes2() {
				t.Skipf("this machine has no %s", kind)
			}
			test(t, func(groups ...Group) *Freezer {
				f, err := newFreezer(kind, groups)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Thaw(); f.Close() })
				return f
			}, tree)
		})
	}
}

func mustFreeze(t *testing.T, f *Freezer) {
	t.Helper()
	if err := f.Freeze(soon); err != nil {
		t.Fatal(err)
	}
}

func addAll(t *testing.T, g Group, procs []process) {
	t.Helper()
	for _, p := range procs {
		if err := g.Add(p.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
}

// freezeNames makes the group's freezer of version 1 beside that of version 2.
func freezeNames(tree *Tree) []string {
	if tree.at[freezer] != "" {
		return []string{freezer}
	}
	return nil
}

func TestFreezeStopsAndThawContinues(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		for _, mode := range []string{"spin", "sleep", "fdatasync"} {
			g := makeGroup(t, tree, mode, freezeNames(tree)...)
			procs := start(t, mode, 2)
			addAll(t, g, procs)
			f := open(g)
			for range 5 {
				mustFreeze(t, f)
				if procs[0].moves(20 * time.Millisecond) {
					t.Errorf("%s goes on while frozen", mode)
				}
				stood := procs[0].shared[wordTicks].Load()
				if err := f.Thaw(); err != nil {
					t.Fatal(err)
				}
				waitFor(t, mode+" to go on after the thaw", func() bool { return procs[0].shared[wordTicks].Load() != stood })
			}
		}
	})
}

// waitFor counts its sleeps and reads no clock, so that time in which this process itself is
// stopped or starved does not count.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range int(soon / time.Millisecond) {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("waited %v for %s", soon, what)
}

func TestFreezeSeveralGroups(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		a, b := makeGroup(t, tree, "a", freezeNames(tree)...), makeGroup(t, tree, "b", freezeNames(tree)...)
		pa, pb := start(t, "spin", 1), start(t, "sleep", 1)
		addAll(t, a, pa)
		addAll(t, b, pb)
		f := open(a, b)
		mustFreeze(t, f)
		if pa[0].moves(10*time.Millisecond) || pb[0].moves(10*time.Millisecond) {
			t.Error("one of two frozen groups goes on")
		}
		if err := f.Thaw(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "both", func() bool { return pa[0].moves(time.Millisecond) && pb[0].moves(5*time.Millisecond) })
	})
}

// A process forked into a frozen group, and one added to it, is frozen too.
func TestFrozenGroupTakesIn(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		g := makeGroup(t, tree, "g", freezeNames(tree)...)
		f := open(g)
		defer f.Thaw()   // before the helpers are killed, for version 1
		mustFreeze(t, f) // an empty group is frozen at once
		procs := start(t, "spin", 1)
		addAll(t, g, procs)
		waitFor(t, "the added process to stop", func() bool { return !procs[0].moves(5 * time.Millisecond) })
	})
}

// TestFrozenDiesOnKill is the reason why version 2 is preferred: a frozen process dies on
// SIGKILL. In version 1 it waits for the thaw.
func TestFrozenDiesOnKill(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		g := makeGroup(t, tree, "g", freezeNames(tree)...)
		procs := start(t, "spin", 1)
		addAll(t, g, procs)
		f := open(g)
		mustFreeze(t, f)
		procs[0].Process.Signal(syscall.SIGKILL)
		died := make(chan struct{})
		go func() { procs[0].Process.Wait(); close(died) }()
		if f.Kind() == freezerV2 {
			waitDone(t, died, "a frozen process to die")
			return
		}
		select {
		case <-died:
			t.Log("this kernel lets a process die that version 1 froze")
		case <-time.After(50 * time.Millisecond):
		}
		if err := f.Thaw(); err != nil {
			t.Fatal(err)
		}
		waitDone(t, died, "a thawed process to die")
	})
}

func waitDone(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	waitFor(t, what, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

// TestBlockedCallsOverFreeze lists the system calls that return EINTR after a freeze; a load
// must expect it of these and of no others.
func TestBlockedCallsOverFreeze(t *testing.T) {
	mayEINTR := map[string]bool{"epoll_wait": true, "epoll_wait+timeout": true, "recv socket+SO_RCVTIMEO": true, "io_getevents": true}
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		g := makeGroup(t, tree, "g", freezeNames(tree)...)
		procs := start(t, "blocked", 1)
		addAll(t, g, procs)
		f := open(g)
		before := *snapshot(procs[0].shared)
		for range 10 {
			mustFreeze(t, f)
			time.Sleep(5 * time.Millisecond)
			if err := f.Thaw(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		after := *snapshot(procs[0].shared)
		for i, name := range blockedCalls {
			eintr := after[wordResult+2*i] - before[wordResult+2*i]
			other := after[wordResult+2*i+1] - before[wordResult+2*i+1]
			t.Logf("%-24s EINTR %d, other returns %d in 10 freezes", name, eintr, other)
			if eintr > 0 && !mayEINTR[name] || other > 0 {
				t.Errorf("%s: %d EINTR, %d other returns over 10 freezes", name, eintr, other)
			}
		}
	})
}

func snapshot(s *shared) *[len(shared{})]uint64 {
	var c [len(shared{})]uint64
	for i := range s {
		c[i] = s[i].Load()
	}
	return &c
}

func TestFreezeAllocatesNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		g := makeGroup(t, tree, "g", freezeNames(tree)...)
		procs := start(t, "sleep", 1)
		addAll(t, g, procs)
		f := open(g)
		n := testing.AllocsPerRun(20, func() {
			if f.Freeze(soon) != nil || f.Thaw() != nil {
				panic("cannot freeze")
			}
		})
		if n > 0 {
			t.Errorf("a switch makes %v allocations", n)
		}
	})
}

// A freeze that the kernel does not confirm is undone. The fixture's kernel takes the freeze
// and never confirms.
func TestFreezeNotConfirmed(t *testing.T) {
	dir := t.TempDir()
	tree := &Tree{proc: proc.FS(dir), kernel: realKernel{}}
	g := Group{Tree: tree, Path: "tare-x/y", Dirs: map[string]string{Unified: dir}}
	put(t, dir, "cgroup.freeze", "0\n")
	put(t, dir, "cgroup.events", "populated 1\nfrozen 0\n")
	put(t, dir, "cgroup.procs", "41\n42\n")
	put(t, dir, "proc/41/task/41/stat", "41 (odd) name) S 1 41")
	put(t, dir, "proc/41/task/43/stat", "43 (odd) name) D 1 41")
	put(t, dir, "proc/41/task/43/wchan", "folio_wait_bit")
	put(t, dir, "proc/42/task/42/stat", "42 (frozen one) S 1 42")
	f, err := g.Freezer()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Freeze(5 * time.Millisecond)
	if !errors.Is(err, ErrNotFrozen) || !strings.Contains(err.Error(), "43 (odd) name) D folio_wait_bit") || strings.Contains(err.Error(), "42") {
		t.Errorf("Freeze: %v", err)
	}
	if got, _ := readFile(filepath.Join(dir, "cgroup.freeze")); got != "0" {
		t.Errorf("after a freeze that was not confirmed cgroup.freeze is %q", got)
	}
}

// The fixture's kernel has version 2 only and confirms late.
func TestFreezeConfirmedLate(t *testing.T) {
	dir := t.TempDir()
	g := Group{Tree: &Tree{kernel: realKernel{}}, Path: "tare-x/y", Dirs: map[string]string{Unified: dir}}
	put(t, dir, "cgroup.freeze", "0\n")
	put(t, dir, "cgroup.events", "populated 1\nfrozen 0\n")
	f, err := g.Freezer()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	go func() {
		for {
			if s, _ := readFile(filepath.Join(dir, "cgroup.freeze")); s == "1" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(3 * time.Millisecond)
		os.WriteFile(filepath.Join(dir, "cgroup.events"), []byte("populated 1\nfrozen 1\n"), 0o644)
	}()
	mustFreeze(t, f)
	if f.Kind() != freezerV2 {
		t.Error(f.Kind())
	}
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNoFreezer(t *testing.T) {
	dir := t.TempDir()
	g := Group{Tree: &Tree{kernel: realKernel{}}, Path: "tare-x/" + strconv.Itoa(1), Dirs: map[string]string{Unified: dir}}
	if _, err := g.Freezer(); err == nil || !strings.Contains(err.Error(), "cgroup.freeze") {
		t.Errorf("a group without a freezer: %v", err)
	}
}
