package enforce

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// effect proves a mechanism by what it does: with it a plant moves a number that stays without it.
type effect struct {
	level string
	try   func(*testing.T, *plant)
	// elsewhere is the test of a mechanism that a share of CPU time, a byte or a kill does not show here.
	elsewhere string
}

// effects are the mechanisms by name. On one CPU four busy processes of the neighbour compete with one of the arm:
// without a mechanism and in one cpu group the arm has a fifth, in groups of the default weight a half.
var effects = map[string]effect{
	"none":          {try: share(0.12, 0.3)},
	"cpu.group":     {try: share(0.38, 0.62)},
	"cpu.weight":    {try: share(0.85, 1)},
	"cpu.idle":      {try: share(0.85, 1)},
	"cpu.quota":     {level: "1%", try: share(0.75, 1)},
	"cpu.burst":     {level: "5%", try: bursts},
	"cpuset.pinned": {try: apart(false)},
	"cpuset.split":  {try: apart(true)},
	"nice":          {try: share(0.5, 1)},
	"sched.idle":    {try: share(0.5, 1)},
	"sched.batch":   {elsewhere: "TestConformOnThisKernel reads the policy back: it changes who preempts whom at a wake-up, and no share"},
	"cpu.qos_level": {elsewhere: "fixture_test.go: only openEuler's kernel has the file"},
	"memory.max":    {level: "64MiB", try: killed},
	"memory.high":   {level: "64MiB", try: reclaimed}, // version 2: make vm
	"memory.low":    {elsewhere: "TestCompetingValue: the value is in the group that competes; who loses pages is the kernel's choice"},
	"io.weight":     {elsewhere: "make uml: TestUMLDisk; BFQ has to be the disk's scheduler"},
	"io.max":        {level: "1MiB/s", try: throttled},
}

// plant is the two sides of a mechanism.
type plant struct {
	host     facts.Host
	at       Sides
	settings isolation.Settings
	cpu      int
}

// TestEffects tries each mechanism, and fails for one without a case.
func TestEffects(t *testing.T) {
	testneed.Root(t)
	h := inspect.Host("/")
	if h.Groups == nil {
		testneed.Feature(t, "cgroup", fmt.Errorf("%s", h.NoGroups.Reason))
	}
	for _, m := range isolation.All() {
		d := m.Describe()
		e, ok := effects[d.Name]
		if !ok || (e.try == nil) == (e.elsewhere == "") {
			t.Errorf("%s has no effect here, and no test elsewhere", d.Name)
			continue
		}
		if e.try == nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			if support := m.Support(h); support.Answer != facts.Yes {
				t.Skipf("not on this host: %s (%s)", support.Reason, support.Remedy)
			}
			level := d.Level.Default
			if e.level != "" {
				level = e.level
			}
			s, err := m.Settings(level, h)
			if err != nil {
				t.Fatal(err)
			}
			e.try(t, &plant{host: h, settings: s, cpu: h.Control.CPUs[0]})
		})
	}
}

// group makes a group with the controllers.
func (p *plant) group(t *testing.T, name string, controllers []string) cgroup.Group {
	t.Helper()
	g, err := p.host.Groups.Make(fmt.Sprintf("tare-effect%d-%s", os.Getpid(), name), controllers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// start starts a shell command in a group; cpu -1: on any CPU.
func (p *plant) start(t *testing.T, g cgroup.Group, cpu int, command string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read go; "+command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	if cpu >= 0 {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(cmd.Process.Pid, &set); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// set puts the mechanism in force.
func (p *plant) set(t *testing.T) {
	t.Helper()
	e, err := Set(p.at, []isolation.Settings{p.settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.settings.Live {
			if err := e.Undo(); err != nil {
				t.Error(err)
			}
		}
	})
}

const busyCommand = "while :; do :; done"

// used is the CPU time of processes in clock ticks.
func used(t *testing.T, all []*exec.Cmd) (sum float64) {
	t.Helper()
	for _, c := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		ns, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += ns
	}
	return sum
}

// share checks the arm's share of the CPU time of both sides. Where others have the kernel divide CPU time between all
// groups of a level, as version 2 does when one of them wants it, processes of two groups do not compete by their niceness
// or policy: then the arm has a half.
func share(low, high float64) func(*testing.T, *plant) {
	return func(t *testing.T, p *plant) {
		low, high := low, high
		arm := []string{}
		for _, c := range p.settings.Neighbour { // the arm is a container where the neighbour's group is one
			if c == "cpu" {
				arm = append(arm, c)
			}
		}
		p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour), Arm: []cgroup.Group{p.group(t, "arm", arm)}}
		if len(arm) == 0 && weighted(p.at.Neighbour) && weighted(p.at.Arm[0]) {
			low, high = 0.38, 0.62
		}
		ours := []*exec.Cmd{p.start(t, p.at.Arm[0], p.cpu, busyCommand)}
		var theirs []*exec.Cmd
		for range 4 {
			theirs = append(theirs, p.start(t, p.at.Neighbour, p.cpu, busyCommand))
		}
		p.set(t)
		a, b := used(t, ours), used(t, theirs)
		for used(t, ours)-a+used(t, theirs)-b < 2e9 {
			time.Sleep(10 * time.Millisecond)
		}
		a, b = used(t, ours)-a, used(t, theirs)-b
		if got := a / (a + b); got < low || got > high {
			t.Errorf("the arm has %.2f of the CPU, want %g to %g", got, low, high)
		}
	}
}

// weighted reports whether a group of version 2 has a weight in the division of CPU time.
func weighted(g cgroup.Group) bool {
	_, err := g.Read(cgroup.Unified, "cpu.weight")
	return err == nil
}

// bursts checks that the neighbour is throttled and uses what it has saved up.
func bursts(t *testing.T, p *plant) {
	p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour)}
	quota := 0.05 * float64(len(p.host.Control.CPUs)) * 0.1 // s in a period
	work := fmt.Sprintf("while :; do timeout %.3f sh -c '%s'; sleep 0.5; done", 5*quota+0.1, busyCommand)
	p.start(t, p.at.Neighbour, p.cpu, work)
	p.set(t)
	stat := func(key string) float64 {
		text, err := p.at.Neighbour.Read("cpu", "cpu.stat")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == key {
				n, _ := strconv.ParseFloat(f[1], 64)
				return n
			}
		}
		t.Skipf("cpu.stat has no %s", key)
		return 0
	}
	for end := time.Now().Add(time.Minute); stat("nr_throttled") < 3 || stat("nr_bursts") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("throttled in %v periods, %v bursts", stat("nr_throttled"), stat("nr_bursts"))
		}
	}
}

// apart checks on which CPUs the two sides may run.
func apart(split bool) func(*testing.T, *plant) {
	return func(t *testing.T, p *plant) {
		p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour), Arm: []cgroup.Group{p.group(t, "arm", p.settings.Arm)}}
		ours, theirs := p.start(t, p.at.Arm[0], -1, busyCommand), p.start(t, p.at.Neighbour, -1, busyCommand)
		p.set(t)
		last := p.host.Control.CPUs[len(p.host.Control.CPUs)-1]
		for c, onLast := range map[*exec.Cmd]bool{ours: !split, theirs: true} {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(c.Process.Pid, &set); err != nil {
				t.Fatal(err)
			}
			if set.IsSet(last) != onLast || set.IsSet(p.cpu) == (c == theirs) {
				t.Errorf("one side (the neighbour's: %v) may run on %v", c == theirs, set)
			}
		}
	}
}

// takes is a command that takes 256 MiB of memory.
const takes = "exec head -c 256M /dev/zero | tail | wc -c"

// killed checks that the kernel ends a neighbour above its limit.
func killed(t *testing.T, p *plant) {
	p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour)}
	before, err := p.at.Neighbour.OOMKills()
	if err != nil {
		t.Fatal(err)
	}
	p.set(t)
	_ = p.start(t, p.at.Neighbour, -1, takes).Wait()
	if after, err := p.at.Neighbour.OOMKills(); err != nil || after == before {
		t.Errorf("%d kills, %v", after-before, err)
	}
}

// reclaimed checks that a neighbour above memory.high is counted by the kernel.
func reclaimed(t *testing.T, p *plant) {
	p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour)}
	p.set(t)
	p.start(t, p.at.Neighbour, -1, takes)
	for {
		events, err := p.at.Neighbour.Read("memory", "memory.events")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(events) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "high" && f[1] != "0" {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// throttled checks the rate of direct writes. The kernel never lets them be faster than the limit.
func throttled(t *testing.T, p *plant) {
	p.at = Sides{Neighbour: p.group(t, "neighbour", p.settings.Neighbour)}
	p.set(t)
	file := filepath.Join(t.TempDir(), "data")
	began := time.Now()
	const mib = 4
	cmd := p.start(t, p.at.Neighbour, -1, fmt.Sprintf("dd if=/dev/zero of=%s bs=64k count=%d oflag=direct 2>/dev/null", file, mib*16))
	if err := cmd.Wait(); err != nil {
		t.Skipf("no direct writes here: %v", err)
	}
	if rate := mib / time.Since(began).Seconds(); rate > 2 {
		t.Errorf("%.1f MiB/s, want at most 1", rate)
	}
}

// TestCompetingValue checks that a value that only siblings compare is written to the group that has siblings.
func TestCompetingValue(t *testing.T) {
	testneed.Root(t)
	h := inspect.Host("/")
	if h.Groups == nil {
		testneed.Feature(t, "cgroup", fmt.Errorf("%s", h.NoGroups.Reason))
	}
	g, err := h.Groups.Make(fmt.Sprintf("tare-effect%d%s/arm", os.Getpid(), cgroup.ParentSuffix), []string{"cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	m, _ := isolation.Find("cpu.weight")
	s, err := m.Settings("7", h)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Files[0]
	f.Of, f.Competing = isolation.Arm, true
	read := func() (all [2]string) {
		for i, g := range []cgroup.Group{g.Competing(), g} {
			if all[i], err = g.Read(f.Controller, f.Name); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	before := read()
	e, err := Set(Sides{Arm: []cgroup.Group{g}}, []isolation.Settings{{Files: []isolation.File{f}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(); got != [2]string{f.Write, f.Write} {
		t.Errorf("in force: %q", got)
	}
	if err := g.Competing().Write(f.Controller, f.Name, before[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Check(); err == nil {
		t.Error("the group that competes lost the value, and the check says nothing")
	}
	if err := e.Undo(); err != nil || read() != before {
		t.Errorf("after undo %q, want %q, %v", read(), before, err)
	}
}
