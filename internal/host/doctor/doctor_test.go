package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// plant writes files below a fresh root.
func plant(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func find(t *testing.T, all []Check, name string) Check {
	t.Helper()
	i := slices.IndexFunc(all, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check %s", name)
	}
	return all[i]
}

func TestThisHost(t *testing.T) {
	scratch := t.TempDir()
	begin := time.Now()
	host, checks := Facts("/"), Checks(Patient{Root: "/", Scratch: scratch, Host: facts.Host{NoGroups: facts.Unsupported(record.InProse("not tried"), record.Said{})}})
	noise, err := Look(t.Context(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("took %v", time.Since(begin))
	b, err := json.MarshalIndent([]any{host, checks, noise}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", b)
	if host.Kernel == "" || host.CPUs < 1 || host.Memory == 0 || host.Arch == "" {
		t.Errorf("facts: %+v", host)
	}
	for _, c := range checks {
		if c.Name == "" || c.Title == "" || c.Reason.IsZero() {
			t.Errorf("an answer without a word: %+v", c)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the scratch directory: %v, %v", left, err)
	}
	checkNoise(t, noise)
}

func checkNoise(t *testing.T, n Noise) {
	t.Helper()
	if len(n.Loops) != 3 || rank(n.Word) < 0 || n.Because.IsZero() || n.Sleep.Sleeps == 0 {
		t.Errorf("noise: %+v", n)
	}
	for _, l := range n.Loops {
		if !(l.Rate > 0) || !(l.CV >= 0) || l.Slices < 2 || rank(l.Word) < 0 {
			t.Errorf("loop: %+v", l)
		}
	}
	if x, ok := n.Steal.Get(); !ok || x < 0 || x > 1 {
		t.Errorf("steal: %v", n.Steal)
	}
}

func TestLookIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Look(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFacts(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	root := plant(t, map[string]string{
		"proc/sys/kernel/hostname": "box\n", "proc/sys/kernel/osrelease": "6.1.0-x\n",
		"proc/cpuinfo": "model name\t: Test CPU\nflags\t\t: fpu hypervisor\n",
		"proc/stat":    "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n", "proc/meminfo": "MemTotal:  2048 kB\n",
		"proc/self/mountinfo":        "25 30 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/self/cgroup":           "0::/\n",
		"sys/fs/cgroup/cgroup.procs": "", "sys/fs/cgroup/cgroup.controllers": "cpu io memory pids cpuset\n",
		cpu + "vulnerabilities/mds": "Not affected\n", cpu + "cpu0/cpufreq/scaling_governor": "powersave\n",
		"etc/os-release": "PRETTY_NAME=\"Test OS 1\"\n",
	})
	h := Facts(root)
	if h.Name != "box" || h.Kernel != "6.1.0-x" || h.CPUModel != "Test CPU" || h.CPUs != 2 || h.Memory != 2048<<10 ||
		h.Virtual != "hypervisor" || h.Cgroup != "v2" || h.Governor != "powersave" || h.Mitigations["mds"] != "Not affected" || h.Distro != "Test OS 1" {
		t.Errorf("facts: %+v", h)
	}
	if h := Facts(t.TempDir()); h.CPUs != 0 || h.Memory != 0 || h.Kernel != "" {
		t.Errorf("facts of an empty tree: %+v", h)
	}
}

// question is a file tree and a host, with the answer of a check.
type question struct {
	name   string
	files  map[string]string
	host   facts.Host
	want   facts.Answer
	reason string
}

func TestChecksOnFixtures(t *testing.T) {
	tree := func(v2 string, controllers ...string) facts.Host {
		g := &cgroup.Tree{Layout: cgroup.Hybrid, V1: map[string]string{}, V2: v2}
		for _, c := range controllers {
			g.V1[c] = "/sys/fs/cgroup/" + c
		}
		return facts.Host{Root: true, Groups: g, Freezer: "freezer v2"}
	}
	none := facts.Host{NoGroups: facts.Unsupported(record.InProse("not yours"), record.InProse("run as root")), NoFreezer: record.InProse("no group")}
	all := tree("/sys/fs/cgroup/unified", "cpu", "memory", "pids", "cpuset", "blkio")
	const pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	const governor, clock = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "sys/devices/system/clocksource/clocksource0/current_clocksource"
	for _, q := range []question{
		{"root", nil, all, facts.Yes, ""},
		{"root", nil, none, facts.No, "user id"},
		{"groups", nil, all, facts.Yes, "hybrid"},
		{"groups", nil, none, facts.No, "not yours"},
		{"controllers", nil, all, facts.Yes, "blkio"},
		{"controllers", nil, tree("", "cpu"), facts.No, "cpuset, memory, io, pids"},
		{"controllers", nil, none, facts.Unknown, ""},
		{"freezer", nil, all, facts.Yes, "freezer v2"},
		{"freezer", nil, none, facts.No, "no group"},
		{"overlay", nil, none, facts.Unknown, "not tried"},
		{"psi", map[string]string{"proc/pressure/cpu": pressure}, all, facts.Yes, ""},
		{"psi", map[string]string{"proc/pressure/cpu": pressure}, tree("", "cpu"), facts.No, "version 1"},
		{"psi", map[string]string{"proc/pressure/cpu": "what"}, all, facts.Unknown, ""},
		{"psi", nil, all, facts.No, "no /proc/pressure"},
		{"memory", map[string]string{"proc/meminfo": "MemTotal: 4194304 kB\nMemAvailable: 2097152 kB\n"}, all, facts.Yes, "2 GiB available of 4 GiB"},
		{"memory", map[string]string{"proc/meminfo": "MemTotal: 4194304 kB\nMemAvailable: 100 kB\n"}, all, facts.No, "100 KiB"},
		{"memory", map[string]string{"proc/meminfo": "MemTotal: 4194304 kB\n"}, all, facts.Unknown, ""},
		{"governor", map[string]string{governor: "performance\n"}, all, facts.Yes, ""},
		{"governor", map[string]string{governor: "powersave\n"}, all, facts.No, "powersave"},
		{"governor", nil, all, facts.Unknown, "cpufreq"},
		{"turbo", map[string]string{"sys/devices/system/cpu/intel_pstate/no_turbo": "1\n"}, all, facts.Yes, ""},
		{"turbo", map[string]string{"sys/devices/system/cpu/cpufreq/boost": "1\n"}, all, facts.No, "on"},
		{"swap", map[string]string{"proc/swaps": "Filename Type Size Used Priority\n"}, all, facts.Yes, "none"},
		{"swap", map[string]string{"proc/swaps": "Filename Type Size Used Priority\n/dev/x partition 1024 0 -2\n"}, all, facts.Yes, "unused"},
		{"swap", map[string]string{"proc/swaps": "Filename Type Size Used Priority\n/dev/x partition 1024 512 -2\n"}, all, facts.No, "512 KiB of 1 MiB"},
		{"swap", nil, all, facts.Unknown, ""},
		{"clock", nil, all, facts.Unknown, ""},
		{"qos", nil, none, facts.No, "not yours"},
	} {
		p := Patient{Root: plant(t, q.files), Scratch: t.TempDir(), Host: q.host}
		c := find(t, Checks(p), q.name)
		if c.Answer != q.want || !strings.Contains(said.English(c.Reason), q.reason) {
			t.Errorf("%s with %v: %v (%s), want %v with %q", q.name, q.files, c.Answer, c.Reason, q.want, q.reason)
		}
		if c.Answer == facts.No && c.Remedy.IsZero() {
			t.Errorf("%s: a no without a remedy", q.name)
		}
	}
}

// The answer about cpu.qos_level is the mechanism's.
func TestQoSLevel(t *testing.T) {
	groups, err := cgroup.Detect(plant(t, map[string]string{
		"proc/self/mountinfo": "25 30 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n26 30 0:24 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n",
		"proc/self/cgroup":    "1:cpu:/\n2:freezer:/\n", "sys/fs/cgroup/cpu/cgroup.procs": "", "sys/fs/cgroup/freezer/cgroup.procs": "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for has, want := range map[bool]facts.Answer{true: facts.Yes, false: facts.No} {
		h := facts.Host{Groups: groups, Control: facts.Control{Files: map[string]bool{"cpu.qos_level": has}}}
		if c := find(t, Checks(Patient{Root: t.TempDir(), Scratch: t.TempDir(), Host: h}), "qos"); c.Answer != want || c.Reason.IsZero() {
			t.Errorf("a kernel with it: %v: %+v", has, c)
		}
	}
}

func TestDurable(t *testing.T) {
	scratch, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	on := func(kind, options string) facts.Support {
		root := plant(t, map[string]string{
			"proc/self/mountinfo":                 "27 1 254:0 / / rw - ext4 /dev/vda rw\n36 27 8:1 / " + scratch + " rw - " + kind + " dev " + options + "\n",
			"sys/dev/block/8:1/queue/write_cache": "write back\n",
		})
		return find(t, Checks(Patient{Root: root, Scratch: scratch}), "fdatasync").Support
	}
	for _, c := range []struct {
		kind, options string
		want          facts.Answer
		reason        string
	}{
		{"tmpfs", "rw", facts.No, "memory"},
		{"ext4", "rw,nobarrier", facts.No, "barriers"},
		{"overlay", "rw,upperdir=/x,volatile", facts.No, "volatile"},
	} {
		if got := on(c.kind, c.options); got.Answer != c.want || !strings.Contains(said.English(got.Reason), c.reason) {
			t.Errorf("%s %s: %+v", c.kind, c.options, got)
		}
	}
	if got := on("ext4", "rw"); got.Answer == facts.No || !strings.Contains(said.English(got.Reason), "ext4 on dev (device cache: write back)") {
		t.Errorf("ext4: %+v", got)
	}
	gone := find(t, Checks(Patient{Root: t.TempDir(), Scratch: filepath.Join(scratch, "absent")}), "fdatasync")
	if gone.Answer != facts.Unknown {
		t.Errorf("a scratch directory that is not there: %+v", gone)
	}
}
