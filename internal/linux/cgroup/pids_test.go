package cgroup

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tarelab/tare/internal/linux/proc"
)

const mountedPids = "30 20 0:20 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"

// An arm gets half of the process ids of the host, and half of those of each group around it.
func TestAmplePids(t *testing.T) {
	for _, c := range []struct {
		pidMax, threadsMax string
		inside, around     string // pids.max of the groups; empty: the file is missing
		want               uint64
	}{
		{"4194304\n", "192729\n", "", "", 96364},
		{"4194304\n", "4000000\n", "", "", 100_000},
		{"32768\n", "192729\n", "", "", 16384},
		{"32768\n", "192729\n", "max", "max", 16384},
		{"32768\n", "192729\n", "1000", "max", 500},
		{"32768\n", "192729\n", "max", "300", 150},
		{"32768\n", "192729\n", "200", "300", 100},
		{"4000\n", "192729\n", "", "", 100_000}, // the 5000 tasks include those of other namespaces
	} {
		f := newFixture(t, mountedPids, "1:pids:/docker/x\n")
		put(t, f.root, "proc/loadavg", "0.20 0.18 0.12 3/5000 11206\n")
		put(t, f.root, "proc/sys/kernel/pid_max", c.pidMax)
		put(t, f.root, "proc/sys/kernel/threads-max", c.threadsMax)
		put(t, f.root, "sys/fs/cgroup/pids/docker/x/tasks", "")
		for dir, most := range map[string]string{"docker/x": c.inside, "docker": c.around} {
			if most != "" {
				put(t, f.root, filepath.Join("sys/fs/cgroup/pids", dir, "pids.max"), most+"\n")
				put(t, f.root, filepath.Join("sys/fs/cgroup/pids", dir, "pids.current"), "12\n")
			}
		}
		tree := f.detect()
		tree.at["pids"] = f.path("sys/fs/cgroup/pids/docker/x")
		if c.pidMax == "4000\n" {
			c.want = 96364
		}
		l, err := tree.Ample()
		if err != nil || l.Pids != c.want {
			t.Errorf("%+v: %d, %v", c, l.Pids, err)
		}
	}
}

// The kernel's own numbers for a group with real processes around those of the arms.
func TestRealPids(t *testing.T) {
	tree := rungTree(t)
	g := makeGroup(t, tree, "around", "pids")
	if err := g.Set("pids", "pids.max", "40"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if err := g.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	key := "pids"
	if tree.V1["pids"] == "" {
		key = Unified
	}
	old := tree.at[key]
	tree.at[key] = g.Dirs["pids"]
	defer func() { tree.at[key] = old }()
	var got PidsLimit
	for _, p := range tree.PidsLimits() {
		if p.Of == g.Dirs["pids"] {
			got = p
		}
	}
	if got.Most != 40 || got.Now != 3 {
		t.Errorf("%+v of %v", got, tree.PidsLimits())
	}
	l, err := tree.Ample()
	if err != nil || l.Pids != 20 {
		t.Errorf("%+v, %v", l, err)
	}
	max, err := readFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	kernel := KernelPids(proc.FS("/"))
	if len(kernel) != 2 || strconv.FormatInt(kernel[0].Most, 10) != max || kernel[0].Now < 5 || kernel[0].Now > kernel[0].Most {
		t.Errorf("%+v, pid_max is %s", kernel, max)
	}
	tree.at[key] = old
	if l, err := tree.Ample(); err != nil || int64(l.Pids) > kernel[0].Most/2 {
		t.Errorf("%d of %s, %v", l.Pids, max, err)
	}
}
