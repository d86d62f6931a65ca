package cgroup

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// systemd disables a controller at the root when none of its units needs it, also one that tare
// has enabled. A group at the top keeps its limits all the same.
func TestHeldAgainstSystemd(t *testing.T) {
	f := machineV2(t)
	tree := f.detect()
	g, err := tree.Make("tare-r-n", []string{"cpuset", "memory"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Set("cpuset", "cpuset.cpus", "1"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"cpuset", "memory"} {
		_ = f.write(f.path(cg+"/cgroup.subtree_control"), "-"+c)
	}
	if got, err := g.Read("cpuset", "cpuset.cpus"); got != "1" {
		t.Errorf("cpuset.cpus %q, %v", got, err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if got := f.listing(cg); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}

// The plan names that group too, for the undo of a killed run.
func TestPlanNamesTheHold(t *testing.T) {
	f := machineV2(t)
	for path, want := range map[string][]string{
		"tare-r-n":   {"tare-r-n-hold", "tare-r-n"},
		"tare-r/arm": {"tare-r", "tare-r/arm"},
	} {
		p, err := f.detect().Plan(path, []string{"cpuset"})
		if err != nil || p.Check("tare-r") != nil {
			t.Fatal(err, p.Check("tare-r"))
		}
		for i := range want {
			want[i] = f.path(cg + "/" + want[i])
		}
		if !slices.Equal(p.Dirs, want) {
			t.Errorf("%s: %v, want %v", path, p.Dirs, want)
		}
	}
}

// CPUs that a unit below the root got while tare had the controller enabled, as by systemctl
// set-property user.slice AllowedCPUs=0, stay.
func TestSettingsOfUnitsStay(t *testing.T) {
	for file, value := range map[string]string{"cpuset.cpus": "0", "cpuset.cpus.partition": "root"} {
		f := machineV2(t)
		tree := f.detect()
		g, err := tree.Make("tare-r/arm", []string{"cpuset", "hugetlb"})
		if err != nil {
			t.Fatal(err)
		}
		const unit = cg + "/user.slice"
		f.unifiedGroup(unit, "cpuset cpu io memory pids")
		put(t, f.path(unit), file, value+"\n")
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
		if got := f.read(unit + "/" + file); got != value {
			t.Errorf("%s of a unit reads %q", file, got)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); got != "cpu io memory pids cpuset" {
			t.Errorf("enabled: %s", got)
		}
		if err := os.Remove(f.path(unit + "/" + file)); err != nil { // the unit is stopped
			t.Fatal(err)
		}
		if err := tree.disable(); err != nil {
			t.Error(err)
		}
		if got := f.read(cg + "/cgroup.subtree_control"); got != "cpu io memory pids" {
			t.Errorf("still enabled: %s", got)
		}
	}
}

// An ordinary user's group also has the guard, which tare has started.
func TestOwnChildrenMoveToo(t *testing.T) {
	child := 999_999_998
	f := machineUser(t, os.Getpid(), child)
	put(t, f.root, "proc/999999998/stat", fmt.Sprintf("%d (tare) S %d%s", child, os.Getpid(), strings.Repeat(" 1", 48)))
	tree := f.detect()
	g, err := tree.Make("tare-r/arm", []string{"memory"})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.read(session + "/cgroup.procs"); got != "" {
		t.Errorf("in the group: %q", got)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}
