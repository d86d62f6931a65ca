package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// pinnedBeside is a process that somebody has pinned to its first CPU, in a group that is not
// tare's, on a host where the cpuset controller of version 2 is not enabled yet.
func pinnedBeside(t *testing.T, tree *Tree) process {
	t.Helper()
	base := tree.at[Unified]
	cpus, err := sched.CPUs(0)
	if err != nil || len(cpus) < 2 {
		t.Skipf("needs two CPUs: %v %v", cpus, err)
	}
	on, err := readFields(filepath.Join(base, "cgroup.subtree_control"))
	if err != nil || !slices.Contains(tree.V2Controllers, cpusetName) || slices.Contains(on, cpusetName) {
		t.Skip("no cpuset controller of version 2 that is to be enabled here")
	}
	dir := filepath.Join(base, "beside-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Rmdir(dir) }) // when the process is gone: see below
	p := start(t, "spin", 1)[0]
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	if err := (realKernel{}).write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(p.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	tids, err := readPids(filepath.Join(dir, "cgroup.threads"))
	if err != nil {
		t.Fatal(err)
	}
	var first unix.CPUSet
	first.Set(cpus[0])
	for _, tid := range tids {
		if err := unix.SchedSetaffinity(tid, &first); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Threads that others have pinned stay pinned when the controller is enabled for a group of
// tare's, and when it is disabled.
func TestRealPinnedStays(t *testing.T) {
	testneed.Root(t)
	tree := rungTree(t)
	p := pinnedBeside(t, tree)
	stays := func(when string) {
		t.Helper()
		if cpus, err := sched.CPUs(p.Process.Pid); err != nil || len(cpus) != 1 {
			t.Errorf("%s: CPUs %v, %v", when, cpus, err)
		}
	}
	g := makeGroup(t, tree, "arm", "cpuset")
	stays("enabled")
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	stays("disabled")
}

// If tare is killed between the two, the journal has the threads.
func TestRealPinnedUndo(t *testing.T) {
	testneed.Root(t)
	tree := rungTree(t)
	p := pinnedBeside(t, tree)
	plan, err := tree.Plan(testPath(t, "arm"), []string{"cpuset"})
	if err != nil || !slices.ContainsFunc(plan.Pinned, func(q Pinned) bool { return q.TID == p.Process.Pid }) {
		t.Fatalf("%+v %v", plan, err)
	}
	var all unix.CPUSet
	all.Fill()
	if err := unix.SchedSetaffinity(p.Process.Pid, &all); err != nil {
		t.Fatal(err)
	}
	if err := Undo(plan); err != nil {
		t.Error(err)
	}
	if cpus, err := sched.CPUs(p.Process.Pid); err != nil || len(cpus) != 1 {
		t.Errorf("CPUs %v, %v", cpus, err)
	}
}
