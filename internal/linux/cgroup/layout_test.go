package cgroup

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// The layouts, as mountinfo shows them on real machines.
const (
	// A machine with systemd and version 2 alone.
	mountsV2 = `22 27 0:21 / /proc rw,nosuid shared:5 - proc proc rw
31 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	// Version 1 with controllers that share a mount, as systemd made them.
	mountsV1 = `31 23 0:26 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
32 31 0:27 / /sys/fs/cgroup/systemd rw shared:10 - cgroup cgroup rw,xattr,name=systemd
33 31 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct
34 31 0:29 / /sys/fs/cgroup/cpuset rw shared:12 - cgroup cgroup rw,cpuset
35 31 0:30 / /sys/fs/cgroup/memory rw shared:13 - cgroup cgroup rw,memory
36 31 0:31 / /sys/fs/cgroup/pids rw shared:14 - cgroup cgroup rw,pids
37 31 0:32 / /sys/fs/cgroup/freezer rw shared:15 - cgroup cgroup rw,freezer
`
	// A container without a cgroup namespace, version 1: the mounts show the
	// container's own groups, read-only.
	mountsContainer = `33 31 0:28 /docker/4f5e /sys/fs/cgroup/cpu,cpuacct ro master:11 - cgroup cgroup rw,cpu,cpuacct
37 31 0:32 /docker/4f5e /sys/fs/cgroup/freezer ro master:15 - cgroup cgroup rw,freezer
`
	ownV1 = "12:cpu,cpuacct:/\n7:freezer:/\n6:cpuset:/\n5:memory:/\n4:pids:/\n1:name=systemd:/\n"
)

const (
	cg      = "sys/fs/cgroup"
	session = cg + "/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope"
)

// machineV2 is a machine of version 2 on which this user is root.
func machineV2(t testing.TB) *fixture {
	f := newFixture(t, mountsV2, "0::/user.slice/user-0.slice/session-1.scope\n")
	f.unifiedRoot(cg, "cpuset cpu io memory hugetlb pids", "cpu io memory pids")
	return f
}

// machineV1 is a machine of version 1 alone.
func machineV1(t testing.TB) *fixture {
	f := newFixture(t, mountsV1, ownV1)
	for _, dir := range []string{"cpu,cpuacct", "cpuset", "memory", "pids", freezer} {
		f.fill1(f.path(cg + "/" + dir))
	}
	put(t, f.path(cg), "cpuset/cpuset.cpus", "0-3\n")
	put(t, f.path(cg), "cpuset/cpuset.mems", "0\n")
	return f
}

// machineUser is a machine of version 2 with an ordinary user in a group of
// its own, in which the given processes are.
func machineUser(t testing.TB, pids ...int) *fixture {
	f := newFixture(t, mountsV2, strings.TrimPrefix("0::"+strings.TrimPrefix(session, cg), " ")+"\n")
	f.unifiedRoot(cg, "cpuset cpu io memory pids", "cpuset cpu io memory pids")
	f.unifiedGroup(session, "cpu memory pids", pids...)
	f.denied[cg] = unix.EACCES
	return f
}

func TestDetectLayouts(t *testing.T) {
	none := newFixture(t, "22 27 0:21 / /proc rw - proc proc rw\n", "")
	hybrid := machineV1(t)
	put(t, hybrid.root, "proc/self/mountinfo", mountsV1+"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n")
	hybrid.unifiedRoot(cg+"/unified", "", "")
	for _, c := range []struct {
		name    string
		f       *fixture
		layout  Layout
		v1      []string
		v2      string
		control []string
	}{
		{"v2", machineV2(t), V2, nil, cg, []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"}},
		{"v1", machineV1(t), V1, []string{"cpu", "cpuacct", "cpuset", freezer, "memory", "pids"}, "", nil},
		{"hybrid", hybrid, Hybrid, []string{"cpu", "cpuacct", "cpuset", freezer, "memory", "pids"}, cg + "/unified", nil},
		{"user", machineUser(t), V2, nil, cg, []string{"cpu", "memory", "pids"}},
		{"none", none, None, nil, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := c.f.detect()
			if tree.Layout != c.layout || tree.Layout.String() != c.layout.String() {
				t.Errorf("layout %v, want %v", tree.Layout, c.layout)
			}
			if got := slices.Sorted(maps.Keys(tree.V1)); !slices.Equal(got, c.v1) {
				t.Errorf("controllers of version 1 %v, want %v", got, c.v1)
			}
			if c.v2 != "" && tree.V2 != c.f.path(c.v2) || c.v2 == "" && tree.V2 != "" {
				t.Errorf("version 2 at %q", tree.V2)
			}
			if !slices.Equal(tree.V2Controllers, c.control) {
				t.Errorf("controllers of version 2 %v, want %v", tree.V2Controllers, c.control)
			}
		})
	}
}

func TestCan(t *testing.T) {
	container := newFixture(t, mountsContainer, "12:cpu,cpuacct:/docker/4f5e\n7:freezer:/docker/4f5e\n")
	for _, dir := range []string{"cpu,cpuacct", freezer} {
		container.fill1(container.path(cg + "/" + dir))
		container.denied[cg+"/"+dir] = unix.EROFS
	}
	ssh := machineUser(t)
	ssh.denied[session] = unix.EACCES
	none := newFixture(t, "", "")
	hidden := newFixture(t, mountsContainer, "12:cpu,cpuacct:/docker/4f5e\n7:freezer:/docker/4f5e\n")
	for _, dir := range []string{"cpu,cpuacct", freezer} {
		hidden.denied[cg+"/"+dir] = unix.ENOENT
	}
	for _, c := range []struct {
		name        string
		f           *fixture
		controllers []string
		want        string // part of the error; empty: no error
	}{
		{"v2 plain", machineV2(t), nil, ""},
		{"v2 under names of version 1", machineV2(t), []string{"cpu", "cpuacct", "memory", "blkio", "pids", "cpuset"}, ""},
		{"v2 without devices", machineV2(t), []string{"devices"}, "no devices controller"},
		{"v1", machineV1(t), []string{"cpu", "cpuacct", "memory"}, ""},
		{"v1 without io", machineV1(t), []string{"io"}, "no blkio controller"},
		{"container", container, nil, "read-only"},
		{"mounted over", hidden, nil, "something is mounted over it"},
		{"user with a group", machineUser(t), []string{"memory"}, ""},
		{"user, controller not delegated", machineUser(t), []string{"cpuset"}, "Delegate="},
		{"user without a group", ssh, nil, "systemd-run --user --scope"},
		{"none", none, nil, "mount -t cgroup2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.f.detect().Can(c.controllers...)
			var u *Unusable
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &u) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want an *Unusable with %q", err, c.want)
			}
		})
	}
}

func TestMakeV2(t *testing.T) {
	f := machineV2(t)
	tree := f.detect()
	all := []string{"cpu", "cpuacct", "memory", "blkio", "pids", "cpuset"}
	plan, err := tree.Plan("tare-r/arm", all)
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{Dirs: []string{f.path(cg + "/tare-r"), f.path(cg + "/tare-r/arm")}, Enable: []string{"cpuset"}, EnableAt: f.path(cg)}
	if d := cmp.Diff(want, plan); d != "" {
		t.Error("plan", d)
	}
	g, err := tree.Make("tare-r/arm", all)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.read(cg + "/tare-r/cgroup.subtree_control"); got != "cpu memory io pids cpuset" {
		t.Errorf("enabled on the way: %q", got)
	}
	for _, name := range append(all, "io", Unified) {
		if dir, err := g.Dir(name); dir != f.path(cg+"/tare-r/arm") {
			t.Errorf("%s at %q, %v", name, dir, err)
		}
	}
	plain, err := tree.Make("tare-r/host", nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Path != "tare-r-plain/host" || f.read(cg+"/tare-r-plain/cgroup.subtree_control") != "" {
		t.Errorf("the plain group %s has controllers", plain.Path)
	}
	for _, g := range []Group{plain, g, g} {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}
	if got := f.listing(cg); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); got != "cpu io memory pids" {
		t.Errorf("the root has enabled %q after Remove", got)
	}
}

func TestMakeV1(t *testing.T) {
	f := machineV1(t)
	tree := f.detect()
	plan, err := tree.Plan("tare-r/arm", []string{"cpu", "cpuacct", "cpuset"})
	if err != nil || len(plan.Dirs) != 6 || plan.EnableAt != "" {
		t.Errorf("plan %+v %v", plan, err)
	}
	g, err := tree.Make("tare-r/arm", []string{"cpu", "cpuacct", "cpuset"})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.read(cg + "/cpuset/tare-r/arm/cpuset.cpus"); got != "0-3" {
		t.Errorf("cpuset.cpus %q", got)
	}
	if g.Dirs["cpu"] != g.Dirs["cpuacct"] || g.Dirs[freezer] != f.path(cg+"/freezer/tare-r/arm") {
		t.Errorf("%v", g.Dirs)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if found, err := tree.Find(Prefix); len(found) > 0 || err != nil {
		t.Errorf("left: %v %v", found, err)
	}
}

// A write without an effect is found, and everything is undone.
func TestMakeControllerDidNotTake(t *testing.T) {
	f := machineV2(t)
	f.deaf = []string{"cgroup.subtree_control"}
	_, err := f.detect().Make("tare-r/arm", []string{"memory"})
	if err == nil || !strings.Contains(err.Error(), "wrote +memory") {
		t.Errorf("%v", err)
	}
	if got := f.listing(cg); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}

func TestSetReadBack(t *testing.T) {
	f := machineV2(t)
	g, err := f.detect().Make("tare-r/arm", []string{"memory", "pids"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Set("memory", "memory.max", "8192"); err != nil {
		t.Error(err)
	}
	err = g.Set("memory", "memory.max", "4097")
	if err == nil || !strings.Contains(err.Error(), `wrote "4097"`) || !strings.Contains(err.Error(), `reads "4096"`) {
		t.Errorf("a value that did not take: %v", err)
	}
	if err := g.Set("memory", "memory.nothing", "1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := g.Set("cpuset", "cpuset.cpus", "1"); err == nil {
		t.Error("set a controller that the group lacks")
	}
	if n, err := g.OOMKills(); n != 3 || err != nil {
		t.Errorf("OOMKills %d %v", n, err)
	}
}

func TestPathRules(t *testing.T) {
	f := machineV2(t)
	tree := f.detect()
	for _, path := range []string{"", ".", "x", "tare", "tare-", "tare-/a", "/tare-x", "tare-x/../..", "tare-x//a", "tare-x/", "tare-a\nb", "tare-a\x00", "tare-self/x"} {
		if _, err := tree.Make(path, nil); err == nil {
			t.Errorf("made %q", path)
		}
	}
	for _, path := range []string{"tare-x", "tare-ä ö/α:β", "tare-x/a b\tc", `tare-x/\040`, "tare-x/%s", "tare-x/" + strings.Repeat("n", 200)} {
		g, err := tree.Make(path, []string{"memory"})
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		if err := g.Remove(); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if found, err := tree.Find(""); err != nil || len(found) > 0 {
		t.Errorf("left: %v %v", found, err)
	}
}

// A group with this very process is never killed.
func TestKillSparesItself(t *testing.T) {
	f := machineV2(t)
	g, err := f.detect().Make("tare-r/arm", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Add(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if err := g.Kill(); err == nil || !strings.Contains(err.Error(), "this very process") {
		t.Errorf("%v", err)
	}
	if err := (Group{Tree: g.Tree, Path: "x", Dirs: map[string]string{Unified: f.path(cg)}}).Remove(); err == nil {
		t.Error("removed a group that is not tare's")
	}
}
