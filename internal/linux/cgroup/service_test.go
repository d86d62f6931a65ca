package cgroup

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"
)

func TestServiceControllers(t *testing.T) {
	systemd := func(f *fixture, dirs ...string) *fixture {
		for _, dir := range append(dirs, "run/systemd/system") {
			if err := os.MkdirAll(f.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	v2 := systemd(machineV2(t))
	put(t, v2.path(cg), "system.slice/cgroup.subtree_control", "cpu memory pids\n")
	for name, c := range map[string]struct {
		f    *fixture
		want []string
	}{
		"v2, no systemd": {machineV2(t), []string{"cpu", "blkio", "memory", "pids"}},
		"v2, systemd":    {v2, []string{"cpu", "memory", "pids"}},
		"v2, no slice":   {systemd(machineV2(t)), nil},
		"v1, no systemd": {machineV1(t), []string{"cpu", "memory", "pids", "cpuacct"}},
		"v1, systemd":    {systemd(machineV1(t), cg+"/memory/system.slice/ssh.service", cg+"/cpu,cpuacct/system.slice"), []string{"memory"}},
		"delegated":      {machineUser(t), []string{"cpu", "memory", "pids"}},
	} {
		if got := c.f.detect().ServiceControllers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A group with processes of others takes no controllers; one with tare alone does.
func TestCanEnable(t *testing.T) {
	if err := machineUser(t, os.Getpid()).detect().CanEnable(); err != nil {
		t.Errorf("with this process alone: %v", err)
	}
	var why *Unusable
	if err := machineUser(t, 4242).detect().CanEnable(); !errors.As(err, &why) {
		t.Errorf("beside another process: %v", err)
	}
	for _, f := range []*fixture{machineV2(t), machineV1(t)} {
		if err := f.detect().CanEnable(); err != nil {
			t.Errorf("as root: %v", err)
		}
	}
}

func TestCPUGroup(t *testing.T) {
	v2 := machineV2(t)
	put(t, v2.path(cg), "system.slice/cpu.weight", "100\n")
	put(t, v2.root, "proc/7/cgroup", "0::/system.slice/db.service\n")
	put(t, v2.root, "proc/8/cgroup", "0::/tare-r-plain/ungrouped\n")
	put(t, v2.root, "proc/9/cgroup", "0::/../other\n")
	hidden := newFixture(t, mountsV2, "")
	hidden.unifiedRoot(cg, "memory pids", "")
	put(t, hidden.root, "proc/7/cgroup", "0::/x\n")
	v1 := machineV1(t)
	put(t, v1.root, "proc/7/cgroup", "12:cpu,cpuacct:/tare-r-host.parent/host\n5:memory:/other\n")
	for _, c := range []struct {
		f    *fixture
		pid  int
		want string
	}{
		{v2, 7, "/system.slice"}, {v2, 8, "/"}, {v2, 9, ""}, {hidden, 7, ""}, {v1, 7, "/tare-r-host.parent/host"},
	} {
		if got, err := CPUGroup(c.f.detect().proc, strconv.Itoa(c.pid)); err != nil || got != c.want {
			t.Errorf("process %d: %q, %v; want %q", c.pid, got, err, c.want)
		}
	}
}
