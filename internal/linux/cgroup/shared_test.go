package cgroup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The last group that is removed disables what the first enabled, in any order.
func TestEnabledUntilTheLast(t *testing.T) {
	for _, first := range []int{0, 1} {
		f := machineV2(t)
		tree := f.detect()
		var groups [2]Group
		for i := range groups {
			plan, err := tree.Plan(fmt.Sprint("tare-r/", i), []string{"cpuset"})
			if err != nil || !slices.Equal(plan.Enable, []string{"cpuset"}) {
				t.Fatalf("plan %d %+v %v", i, plan, err)
			}
			if groups[i], err = tree.Make(fmt.Sprint("tare-r/", i), []string{"cpuset"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := groups[first].Remove(); err != nil {
			t.Fatal(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); !strings.Contains(got, "cpuset") {
			t.Error("disabled under a group that uses it")
		}
		if err := groups[1-first].Remove(); err != nil {
			t.Fatal(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); strings.Contains(got, "cpuset") {
			t.Errorf("still enabled: %s", got)
		}
	}
}

// Of two groups right below the root one has a controller: the kernel would disable it, and tare
// does not.
func TestEnabledBesideAnother(t *testing.T) {
	f := machineV2(t)
	tree := f.detect()
	var groups [2]Group
	for i := range groups {
		var err error
		if groups[i], err = tree.Make(fmt.Sprint("tare-r-", i), []string{"cpuset"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false} {
		if err := groups[i].Remove(); err != nil {
			t.Fatal(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); strings.Contains(got, "cpuset") != want {
			t.Errorf("after %d were removed: %q", i+1, got)
		}
	}
}

// Controllers that the first of two runs enabled stay enabled while the second has groups, also when the first has
// ended, or was killed and is undone. The second run disables them at its end.
func TestEnabledBesideAnotherRun(t *testing.T) {
	for _, killed := range []bool{false, true} {
		f := machineV2(t)
		one, two := f.detect(), f.detect()
		plan, err := one.Plan("tare-one", []string{"cpuset"})
		if err != nil {
			t.Fatal(err)
		}
		first, err := one.Make("tare-one", []string{"cpuset"})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := two.Plan("tare-two", []string{"cpuset"}); err != nil || len(p.Enable) > 0 || p.EnableAt != f.path(cg) {
			t.Errorf("the plan of the second run is %+v, %v", p, err)
		}
		second, err := two.Make("tare-two", []string{"cpuset"})
		if err != nil {
			t.Fatal(err)
		}
		if killed {
			one.lock.Close() // as the kernel does
			if err := removeDirs(f, plan.Dirs); err != nil {
				t.Error(err)
			}
			if _, err := disable(f, one.proc, plan); err != nil {
				t.Error(err)
			}
		} else if err := first.Remove(); err != nil {
			t.Error(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); !strings.Contains(got, "cpuset") {
			t.Errorf("killed %v: disabled under the second run", killed)
		}
		if err := second.Remove(); err != nil {
			t.Error(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); strings.Contains(got, "cpuset") {
			t.Errorf("killed %v: still enabled: %s", killed, got)
		}
		if left := noted(f.path(cg)); len(left) > 0 {
			t.Errorf("killed %v: noted: %v", killed, left)
		}
	}
}

// A run ends between the plan of another run and its groups, and disables controllers that the
// plan expects to be enabled: they are enabled again.
func TestEnabledWhenPlanned(t *testing.T) {
	f := machineV2(t)
	one, two := f.detect(), f.detect()
	first, err := one.Make("tare-one", []string{"cpuset"})
	if err != nil {
		t.Fatal(err)
	}
	path := "tare-two"
	p, err := two.Plan(path, []string{"cpuset"})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := two.enableBase(p, []string{"cpuset"}); err != nil {
		t.Fatal(err)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); !strings.Contains(got, "cpuset") {
		t.Errorf("not enabled: %s", got)
	}
	if err := two.disable(); err != nil {
		t.Error(err)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); strings.Contains(got, "cpuset") {
		t.Errorf("still enabled: %s", got)
	}
}

// Any user can lock a directory that is readable; nobody waits for that lock for long.
func TestLockedByOthers(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		f, err := lockExclusive(dir)
		if f == nil || err != nil {
			t.Fatalf("%v, %v", f, err)
		}
		if held, err := lockShared(dir); held != nil || err != nil {
			t.Errorf("held beside an exclusive lock: %v", err)
		}
		f.Close()
		shared, err := lockShared(dir)
		if shared == nil || err != nil {
			t.Fatalf("not held: %v", err)
		}
		if f, err := lockExclusive(dir); f != nil || err != nil {
			t.Errorf("alone beside a holder: %v", err)
		}
		shared.Close()
	}
}

// A controller cannot be disabled while a foreign group has it enabled for its children; it is
// disabled when that group has let go.
func TestEnabledWhileOthersUseIt(t *testing.T) {
	f := machineV2(t)
	tree := f.detect()
	g, err := tree.Make("tare-one", []string{"cpuset"})
	if err != nil {
		t.Fatal(err)
	}
	const others = cg + "/system.slice"
	f.unifiedGroup(others, "cpuset")
	put(t, f.path(others), "cgroup.subtree_control", "cpuset\n")
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); !strings.Contains(got, "cpuset") {
		t.Errorf("disabled while a group has it on: %s", got)
	}
	put(t, f.path(others), "cgroup.subtree_control", "\n")
	if err := tree.disable(); err != nil {
		t.Error(err)
	}
	if got, left := f.read(cg+"/cgroup.subtree_control"), noted(f.path(cg)); strings.Contains(got, "cpuset") || len(left) > 0 {
		t.Errorf("still enabled: %s; noted: %v", got, left)
	}
}
