package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// groupRoot is where a container sees its own control groups.
const groupRoot = "/sys/fs/cgroup"

// ownGroup has the control groups of this container as the container sees them: the runtime
// mounts its group at groupRoot, with version 1 a directory for each controller.
func ownGroup() cgroup.Group {
	g := cgroup.Group{Path: "/", Dirs: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(groupRoot, "cgroup.controllers"))
	if err == nil {
		g.AddV2(groupRoot, strings.Fields(string(text)))
		return g
	}
	for _, c := range []string{"cpu", "cpuacct", "cpuset", "memory", "pids", "blkio"} {
		dir := filepath.Join(groupRoot, c)
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err == nil {
			g.Controllers = append(g.Controllers, c)
			g.Dirs[c] = dir
		}
	}
	return g
}

// target is what the probes observe: what the pod shows of a child.
func (c *child) target() probe.Target {
	t := probe.Target{
		Root: "/", Group: ownGroup(), Data: c.dir,
		NotHost: record.Say("only_on_node"),
	}
	if len(t.Group.Dirs) == 0 {
		t.Pids = []int{c.pid}
	}
	return t
}

// watch reads the probes and operations of the child while a load in another pod is measured.
func (a *agent) watch(r request, _ []*os.File) (event, error) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	c, err := a.current()
	if err != nil {
		return event{}, err
	}
	ops := func() uint64 { return 0 }
	if c.load != nil {
		ops = c.load.Memory.Ops
	}
	begin := sched.Monotonic() + int64(r.Watch.Discard)
	err = window.Sleep(begin, c.ended)
	first, before := ops(), c.probes.Read(nil)
	if err == nil {
		err = window.Sleep(begin+int64(r.Watch.Length), c.ended)
	}
	after := c.probes.Read(nil)
	return event{Sample: &wire.Sample{Ops: ops() - first, Probes: c.probes.Values(before, after)}}, err
}

// look reads back the limits of the pod, the security state of the child and the volume under
// its data. The volume may be on a server that does not answer.
func (a *agent) look(request, []*os.File) (event, error) {
	seen := &Seen{}
	g := ownGroup()
	for _, f := range []struct{ controller, name string }{
		{"cpu", "cpu.shares"}, {"cpu", "cpu.cfs_quota_us"}, {"cpu", "cpu.cfs_period_us"}, {"cpu", "cpu.weight"}, {"cpu", "cpu.max"},
		{"memory", "memory.limit_in_bytes"}, {"memory", "memory.max"}, {"pids", "pids.max"},
		{"cpuset", "cpuset.cpus"}, {"cpuset", "cpuset.cpus.effective"},
	} {
		b, err := os.ReadFile(filepath.Join(g.Dirs[f.controller], f.name))
		if value := strings.TrimSpace(string(b)); err == nil && g.Dirs[f.controller] != "" && value != "" {
			seen.Groups = append(seen.Groups, record.Setting{Name: f.name, Got: value})
		}
	}
	c, err := a.current()
	if err != nil {
		return event{Seen: seen}, nil
	}
	if f, err := probe.Facts(probe.Target{Root: "/", Pids: []int{c.pid}}); err == nil {
		seen.Process = f
	}
	f, err := storage.Of("/", c.dir)
	if err != nil {
		return event{}, err
	}
	seen.Volume = f.Settings()
	return event{Seen: seen}, nil
}
