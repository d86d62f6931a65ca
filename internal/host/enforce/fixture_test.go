package enforce

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Kernels that this machine does not have, as trees of files: version 2, openEuler's
// cpu.qos_level, BFQ's weights.

// put writes a file of a fixture.
func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// machine is a host with control groups as files, and two groups on it.
type machine struct {
	host facts.Host
	at   Sides
}

// v2Machine has control groups of version 2 alone.
func v2Machine(t *testing.T) machine {
	root := t.TempDir()
	point := filepath.Join(root, "sys/fs/cgroup")
	put(t, filepath.Join(root, "proc/self/mountinfo"), "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	put(t, filepath.Join(root, "proc/self/cgroup"), "0::/\n")
	put(t, filepath.Join(point, "cgroup.controllers"), "cpuset cpu io memory pids\n")
	files := map[string]string{
		"cpu.weight": "100", "cpu.idle": "0", "cpu.max": "max 100000", "cpu.max.burst": "0",
		"cpuset.cpus": "", "memory.max": "max", "memory.high": "max", "memory.low": "0",
		"io.weight": "default 100", "io.max": "", "cgroup.threads": strconv.Itoa(os.Getpid()),
	}
	keys := []string{cgroup.Unified, "cpu", "cpuset", "memory", "io", "blkio", "pids"}
	return build(t, root, point, files, func(dir string) map[string]string {
		dirs := map[string]string{}
		for _, k := range keys {
			dirs[k] = dir
		}
		return dirs
	})
}

// eulerMachine has version 1, like openEuler's kernels.
func eulerMachine(t *testing.T) machine {
	root := t.TempDir()
	point := filepath.Join(root, "sys/fs/cgroup/cpu")
	put(t, filepath.Join(root, "proc/self/mountinfo"), ""+
		"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"+
		"33 31 0:30 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n")
	put(t, filepath.Join(root, "proc/self/cgroup"), "2:cpu:/\n1:freezer:/\n")
	put(t, filepath.Join(root, "sys/fs/cgroup/freezer/tasks"), "")
	files := map[string]string{"cpu.qos_level": "0", "cpu.shares": "1024", "tasks": strconv.Itoa(os.Getpid())}
	return build(t, root, point, files, func(dir string) map[string]string { return map[string]string{"cpu": dir} })
}

func build(t *testing.T, root, point string, files map[string]string, dirs func(string) map[string]string) machine {
	m := machine{host: facts.Host{Root: true, Control: facts.Control{
		Files: map[string]bool{}, CPUs: []int{0, 1, 2, 3}, Disk: "8:0", Scheduler: "bfq",
	}}}
	for _, side := range []string{"tare-x-neighbour", "tare-x-arm"} {
		for name, text := range files {
			put(t, filepath.Join(point, side, name), text+"\n")
			m.host.Control.Files[name] = true
		}
	}
	var err error
	if m.host.Groups, err = cgroup.Detect(root); err != nil {
		t.Fatal(err)
	}
	group := func(name string) cgroup.Group {
		return cgroup.Group{Tree: m.host.Groups, Path: name, Dirs: dirs(filepath.Join(point, name))}
	}
	m.at = Sides{Neighbour: group("tare-x-neighbour"), Arm: []cgroup.Group{group("tare-x-arm")}}
	return m
}

func (m machine) read(t *testing.T, of isolation.Side, controller, file string) string {
	g := m.at.Neighbour
	if of == isolation.Arm {
		g = m.at.Arm[0]
	}
	s, err := g.Read(controller, file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// set checks one mechanism on a machine and returns what it set.
func (m machine) set(t *testing.T, text string) (*Enforced, isolation.Settings) {
	t.Helper()
	mech, level, err := isolation.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if s := mech.Support(m.host); s.Answer != facts.Yes {
		t.Fatalf("%s: %+v", text, s)
	}
	s, err := mech.Settings(level, m.host)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Set(m.at, []isolation.Settings{s})
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

func TestConformOnVersion2(t *testing.T) {
	for _, c := range []struct {
		text             string
		of               isolation.Side
		controller, file string
		want, undone     string
	}{
		{"cpu.weight=5", isolation.Neighbour, "cpu", "cpu.weight", "5", "100"},
		{"cpu.idle", isolation.Neighbour, "cpu", "cpu.idle", "1", "0"},
		{"cpu.quota=25%", isolation.Neighbour, "cpu", "cpu.max", "100000 100000", "max 100000"},
		{"cpu.burst=10%", isolation.Neighbour, "cpu", "cpu.max.burst", "40000", "0"},
		{"cpuset.pinned", isolation.Neighbour, "cpuset", "cpuset.cpus", "3", ""},
		{"memory.max=64MiB", isolation.Neighbour, "memory", "memory.max", "67108864", "max"},
		{"memory.high=64MiB", isolation.Neighbour, "memory", "memory.high", "67108864", "max"},
		{"memory.low=1GiB", isolation.Arm, "memory", "memory.low", "1073741824", "0"},
		{"io.weight=7", isolation.Neighbour, "io", "io.weight", "7", "100"},
		{"io.max=1MiB/s", isolation.Neighbour, "io", "io.max", "8:0 rbps=1048576 wbps=1048576", "8:0 rbps=max wbps=max"},
		{"io.max=50/s", isolation.Neighbour, "io", "io.max", "8:0 riops=50 wiops=50", "8:0 riops=max wiops=max"},
	} {
		t.Run(c.text, func(t *testing.T) {
			m := v2Machine(t)
			e, _ := m.set(t, c.text)
			if got := m.read(t, c.of, c.controller, c.file); got != c.want {
				t.Errorf("%s holds %q, want %q", c.file, got, c.want)
			}
			if err := e.Undo(); err != nil {
				t.Fatal(err)
			}
			if got := m.read(t, c.of, c.controller, c.file); got != c.undone {
				t.Errorf("taken back, %s holds %q, want %q", c.file, got, c.undone)
			}
		})
	}
}

// A file on which a write has no effect is an error, and nothing is left.
func TestSetThatDoesNotTake(t *testing.T) {
	m := v2Machine(t)
	mech, _, _ := isolation.Parse("io.max")
	s, err := mech.Settings("1MiB/s", m.host)
	if err != nil {
		t.Fatal(err)
	}
	s.Files[0].Took = func(string) bool { return false }
	if _, err := Set(m.at, []isolation.Settings{s}); err == nil || !strings.Contains(err.Error(), "did not take") {
		t.Errorf("error %v", err)
	}
	if got := m.read(t, isolation.Neighbour, "io", "io.max"); !strings.HasSuffix(got, "wbps=max") {
		t.Errorf("left behind: %q", got)
	}
}

// openEuler's level is set on the neighbour only, and never changed on live tasks: they must
// not move back.
func TestQoSLevel(t *testing.T) {
	m := eulerMachine(t)
	_, s := m.set(t, "cpu.qos_level")
	if got := m.read(t, isolation.Neighbour, "cpu", "cpu.qos_level"); got != "-1" {
		t.Errorf("the neighbour is at %q", got)
	}
	if got := m.read(t, isolation.Arm, "cpu", "cpu.qos_level"); got != "0" {
		t.Errorf("the arm is at %q", got)
	}
	if s.Live {
		t.Error("it would be toggled")
	}
	m = v2Machine(t)
	mech, _ := isolation.Find("cpu.qos_level")
	if sup := mech.Support(m.host); sup.Answer != facts.No || !strings.Contains(said.English(sup.Remedy), "openEuler") {
		t.Errorf("on version 2: %+v", sup)
	}
}
