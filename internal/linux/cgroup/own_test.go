package cgroup

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The limit that groups made here do not have is that of any group above this process, up to the one in which groups are
// made.
func TestOwnMemory(t *testing.T) {
	const slice = "/user.slice/user-0.slice"
	v2 := func(limits map[string]string) *fixture {
		f := machineV2(t)
		for group, limit := range limits {
			put(t, f.path(cg+group), "memory.max", limit+"\n")
		}
		return f
	}
	v1 := func(limits map[string]string) *fixture {
		f := machineV1(t)
		put(t, f.root, "proc/self/cgroup", "12:cpu,cpuacct:/\n7:freezer:/\n5:memory:/shell/of/ann\n1:name=systemd:/\n")
		for group, limit := range limits {
			put(t, f.path(cg+"/memory"+group), "memory.limit_in_bytes", limit+"\n")
		}
		return f
	}
	delegated := v2(map[string]string{slice: "1000", slice + "/session-1.scope": "2000"})
	delegated.denied[cg] = unix.EACCES
	put(t, delegated.path(cg+slice+"/session-1.scope"), "cgroup.controllers", "memory pids\n")
	for name, c := range map[string]struct {
		f    *fixture
		want uint64
	}{
		"none":             {v2(map[string]string{slice + "/session-1.scope": "max"}), 0},
		"own":              {v2(map[string]string{slice + "/session-1.scope": "209715200", slice: "max"}), 209715200},
		"above":            {v2(map[string]string{slice + "/session-1.scope": "max", slice: "1000"}), 1000},
		"the least":        {v2(map[string]string{slice + "/session-1.scope": "2000", slice: "3000"}), 2000},
		"no files":         {v2(nil), 0},
		"version 1":        {v1(map[string]string{"/shell/of/ann": "5000", "/shell": "4000"}), 4000},
		"version 1, none":  {v1(map[string]string{"/shell/of/ann": "9223372036854771712"}), 0},
		"below this group": {delegated, 0},
	} {
		if got := c.f.detect().OwnMemory(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
