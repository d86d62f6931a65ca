package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// rung are the controllers of the cgroup rung.
var rung = []string{"cpu", "cpuacct", "memory", "blkio", "pids", "cpuset"}

// rungTree is a real tree with all controllers of the rung.
func rungTree(t testing.TB) *Tree {
	t.Helper()
	tree := realTree(t)
	testneed.Feature(t, "controllers", tree.Can(rung...))
	return tree
}

// left is what there is of tare's groups for this test.
func left(t testing.TB, tree *Tree) []string {
	t.Helper()
	found, err := tree.Find(strings.SplitN(testPath(t, "x"), "/", 2)[0])
	if err != nil {
		t.Error(err)
	}
	return found
}

func TestRealMakeAddRemove(t *testing.T) {
	tree := rungTree(t)
	for _, controllers := range [][]string{nil, rung} {
		g := makeGroup(t, tree, "arm ä:b", controllers...)
		p := start(t, "sleep", 1)[0]
		if err := g.Add(p.Process.Pid); err != nil {
			t.Fatal(err)
		}
		if pids, err := g.Pids(); !slices.Equal(pids, []int{p.Process.Pid}) {
			t.Errorf("Pids %v %v", pids, err)
		}
		own, err := tree.proc.Cgroups(strconv.Itoa(p.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range controllers {
			name := c
			if tree.V1[v1Name(c)] == "" {
				name = ""
			}
			if !strings.HasSuffix(own[name], g.Path) {
				t.Errorf("%s: the process is in %q", c, own[name])
			}
		}
		if again, err := tree.Make(testPath(t, "arm ä:b"), controllers); !errors.Is(err, os.ErrExist) {
			t.Errorf("made %s twice: %v", again.Path, err)
		}
		for range 2 {
			if err := g.Remove(); err != nil {
				t.Fatal(err)
			}
		}
		if found := left(t, tree); len(found) > 0 {
			t.Errorf("left: %v", found)
		}
	}
}

// A failure in the middle leaves nothing; here one hierarchy has the group already.
func TestRealMakeWholeOrNot(t *testing.T) {
	tree := rungTree(t)
	path := testPath(t, "arm")
	dir := filepath.Join(tree.at[mustHierarchy(t, tree, "pids")], path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Make(path, rung); !errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), "tare cleanup") {
		t.Errorf("%v", err)
	}
	// The controllers of version 2 stay enabled while another group uses them.
	if err := errors.Join(unix.Rmdir(dir), unix.Rmdir(filepath.Dir(dir)), tree.disable()); err != nil {
		t.Error(err)
	}
	if found := left(t, tree); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

func mustHierarchy(t testing.TB, tree *Tree, controller string) string {
	t.Helper()
	key, err := tree.hierarchy(controller)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestRealV2Controller enables a controller of version 2 on a machine whose other controllers
// are in version 1.
func TestRealV2Controller(t *testing.T) {
	tree := realTree(t)
	if tree.at[Unified] == "" || !slices.Contains(tree.V2Controllers, "hugetlb") {
		t.Skip("no hugetlb controller of version 2 here")
	}
	control := filepath.Join(tree.at[Unified], "cgroup.subtree_control")
	before, err := readFile(control)
	if err != nil {
		t.Fatal(err)
	}
	a, b := makeGroup(t, tree, "a", "hugetlb"), makeGroup(t, tree, "b", "hugetlb")
	if _, err := b.Read("hugetlb", "hugetlb.2MB.current"); err != nil {
		t.Error(err)
	}
	for _, g := range []Group{a, b} {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}
	if after, _ := readFile(control); after != before {
		t.Errorf("%s is %q after Remove, was %q", control, after, before)
	}
}

func TestRealLimits(t *testing.T) {
	tree := rungTree(t)
	g := makeGroup(t, tree, "arm", rung...)
	ample, err := tree.Ample()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Limits{ample, {Memory: 64<<20 + 1, Pids: 50, CPUs: 1.5}, {CPUs: 0.9, Period: 20 * time.Millisecond, CPUSet: "0", MemSet: "0"}} {
		got, err := g.Apply(l)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 6 {
			t.Errorf("%d settings: %v", len(got), got)
		}
		for _, s := range got {
			if s.Wanted != "" && s.Got != s.Wanted || s.Got == "" {
				t.Errorf("%+v", s)
			}
		}
		t.Log(got)
	}
	got, err := g.Apply(Limits{CPUs: 1, Burst: 0.5, Weight: 20})
	if err != nil {
		t.Fatal(err)
	}
	weight := "20"
	if tree.V1["cpu"] != "" {
		weight = "205"
	}
	for name, want := range map[string]string{"cpu.burst": "0.05 s", "cpu.weight": weight, "cpu.quota": "0.1 s"} {
		if !slices.ContainsFunc(got, func(s record.Setting) bool { return s.Name == name && s.Got == want }) {
			t.Errorf("no %s of %s in %v", name, want, got)
		}
	}
	if _, err := g.Apply(Limits{CPUSet: "0-9999"}); err == nil {
		t.Error("CPUs that this machine lacks were taken")
	}
	if err := g.Set("pids", "pids.max", "7"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Check(Limits{Pids: 50}); err == nil || !strings.Contains(err.Error(), "wanted 50") {
		t.Errorf("a limit that changed: %v", err)
	}
}

func TestRealSetDidNotTake(t *testing.T) {
	tree := rungTree(t)
	g := makeGroup(t, tree, "arm", "memory")
	file := "memory.max"
	if tree.V1["memory"] != "" {
		file = "memory.limit_in_bytes"
	}
	err := g.Set("memory", file, "1048577")
	if err == nil || !strings.Contains(err.Error(), `reads "1048576"`) {
		t.Errorf("%v", err)
	}
}

func TestRealOOM(t *testing.T) {
	tree := rungTree(t)
	g := makeGroup(t, tree, "arm", "memory")
	if n, err := g.OOMKills(); n != 0 || err != nil {
		t.Errorf("before: %d %v", n, err)
	}
	if _, err := g.Apply(Limits{Memory: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	p := start(t, "deaf", 1)[0]
	if err := g.Add(p.Process.Pid); err != nil {
		t.Fatal(err)
	}
	grab := start(t, "grab", 1)[0]
	if err := g.Add(grab.Process.Pid); err != nil {
		t.Fatal(err)
	}
	err := grab.Process.Signal(syscall.Signal(0))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the out-of-memory killer", func() bool { n, _ := g.OOMKills(); return n > 0 })
}

// TestRealKill kills processes that are frozen, ignore signals, or have forked into groups
// below.
func TestRealKill(t *testing.T) {
	eachKind(t, func(t *testing.T, open func(...Group) *Freezer, tree *Tree) {
		g := makeGroup(t, tree, "arm", freezeNames(tree)...)
		procs := append(start(t, "deaf", 1), start(t, "spin", 2)...)
		addAll(t, g, procs)
		parent := start(t, "fork", 1)[0]
		_ = g.Add(parent.Process.Pid) // it may have ended already
		for _, dir := range g.dirs() {
			if err := os.Mkdir(filepath.Join(dir, "below"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := (realKernel{}).write(filepath.Join(dir, "below", "cgroup.procs"), fmt.Sprint(procs[1].Process.Pid)); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, "the fork", func() bool { return parent.shared[wordResult].Load() != 0 })
		orphan := int(parent.shared[wordResult].Load())
		_ = g.Add(orphan)
		mustFreeze(t, open(g))
		if err := g.Remove(); err != nil {
			t.Fatal(err)
		}
		for _, p := range procs {
			p.Process.Wait()
			if s := p.ProcessState; s != nil && !strings.Contains(s.String(), "killed") {
				t.Error(s)
			}
		}
		if err := unix.Kill(orphan, 0); !errors.Is(err, unix.ESRCH) && !zombie(orphan) {
			t.Errorf("the orphan lives: %v", err)
		}
		if found := left(t, tree); len(found) > 0 {
			t.Errorf("left: %v", found)
		}
	})
}

func zombie(pid int) bool {
	s, _ := readFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(s, ") Z ")
}

// Undo needs only the plan, also when the group was made in part.
func TestRealUndo(t *testing.T) {
	tree := rungTree(t)
	path := testPath(t, "arm")
	plan, err := tree.Plan(path, rung)
	if err != nil {
		t.Fatal(err)
	}
	if err := Undo(plan); err != nil {
		t.Error("nothing made yet:", err)
	}
	g := makeGroup(t, tree, "arm", rung...)
	addAll(t, g, start(t, "spin", 1))
	for range 2 {
		if err := Undo(plan); err != nil {
			t.Error(err)
		}
	}
	if found := left(t, tree); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

func TestUndoOnlyGroups(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tare-x")
	put(t, dir, "cgroup.procs", "1\n")
	if err := Undo(Plan{Dirs: []string{dir}}); err == nil || !exists(dir) {
		t.Errorf("undid %s: %v", dir, err)
	}
}
