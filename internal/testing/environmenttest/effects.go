package environmenttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
)

// Effect proves a setting of an arm by what it does: with the setting a plant moves a number that stays without it.
type Effect struct {
	// Key is the key of the experiment file.
	Key string
	// Elsewhere is the test of a setting that this kernel cannot show; empty: Try shows it.
	Elsewhere string
	Try       func(t *testing.T, open func(*testing.T, environment.Spec) *Arm)
	// NoContainer says that an arm with control groups alone has the setting too.
	NoContainer bool
}

// Arm is an open arm of an effect.
type Arm struct{ *fixture }

// Effects are the settings of an arm.
func Effects() []Effect {
	return []Effect{
		{Key: "weight", Try: weightMoves, NoContainer: true},
		{Key: "cpus", Try: quotaMoves, NoContainer: true},
		{Key: "burst", Try: burstMoves, NoContainer: true},
		{Key: "cpuset", Try: cpusetMoves, NoContainer: true},
		{Key: "memory", Try: memoryMoves, NoContainer: true},
		{Key: "network", Try: networkMoves},
		{Key: "seccomp", Try: seccompMoves},
		{Key: "capabilities", Try: capabilitiesMove},
		{Key: "volume", Try: volumeMoves},
		{Key: "apparmor", Elsewhere: "make vm: package oci, apparmor_test.go: the profile refuses a write"},
		{Key: "image", Elsewhere: "TestEnvironments/chroot (what a process is given) and package engines, image_test.go: the arm has the image's files"},
	}
}

// ProveEffects runs the effects in an environment.
func ProveEffects(t *testing.T, env environment.Environment, host facts.Host) {
	for _, e := range Effects() {
		if e.Try == nil || !e.NoContainer && !env.Capabilities().Container {
			continue
		}
		t.Run(e.Key, func(t *testing.T) {
			e.Try(t, func(t *testing.T, with environment.Spec) *Arm {
				choice := Choice{Container: with.Container, Limits: with.Limits, Volume: with.Volume != ""}
				f := suite{env: env, host: host, opts: Options{Choice: choice}}.open(t)
				return &Arm{f}
			})
		})
	}
}

// firstCPU is the first CPU that this process may use.
func firstCPU(t *testing.T) int {
	t.Helper()
	all, err := sched.CPUs(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// busyBeside starts four busy processes on a CPU, in a group beside the arm's.
func busyBeside(t *testing.T, tree *cgroup.Tree, cpu int) cgroup.Group {
	t.Helper()
	g, err := tree.Make(fmt.Sprintf("tare-plant%dx%d", os.Getpid(), runs.Add(1)), []string{"cpu", "cpuacct"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	for range 4 {
		cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(cmd.Process.Pid, &set); err != nil {
			t.Fatal(err)
		}
		if err := g.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// cpuTime is the CPU time of a group in s.
func cpuTime(t *testing.T, g cgroup.Group) float64 {
	t.Helper()
	if text, err := g.Read("cpuacct", "cpuacct.usage"); err == nil {
		ns, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return ns * 1e-9
	}
	return statOf(t, g, "usage_usec") * 1e-6
}

// statOf is a number of cpu.stat.
func statOf(t *testing.T, g cgroup.Group, key string) float64 {
	t.Helper()
	text, err := g.Read("cpu", "cpu.stat")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == key {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("cpu.stat has no %s: %s", key, text)
	return 0
}

// weightMoves compares shares of one CPU beside four busy processes outside of tare's groups.
func weightMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	cpu := firstCPU(t)
	for _, c := range []struct {
		weight    uint64
		low, high float64
	}{{0, 0.3, 0.7}, {2, 0, 0.15}, {10_000, 0.8, 1}} {
		a := open(t, environment.Spec{Limits: cgroup.Limits{Weight: c.weight, CPUSet: strconv.Itoa(cpu)}})
		plant := busyBeside(t, a.host.Groups, cpu)
		a.start(t, "burn").ready(t)
		own, other := a.arm.Place().Group, plant
		own0, other0 := cpuTime(t, own), cpuTime(t, other)
		var mine, theirs float64
		await(t, "two seconds of CPU time", func() bool {
			mine, theirs = cpuTime(t, own)-own0, cpuTime(t, other)-other0
			return mine+theirs > 2
		})
		if share := mine / (mine + theirs); share < c.low || share > c.high {
			t.Errorf("weight %d: %.3f of the CPU, want %g to %g", c.weight, share, c.low, c.high)
		}
		a.close(t)
	}
}

// quotaMoves checks that a busy arm is throttled, and gets no more CPU time than its quota.
func quotaMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	for _, cpus := range []float64{0, 0.2} {
		a := open(t, environment.Spec{Limits: cgroup.Limits{CPUs: cpus}})
		g := a.arm.Place().Group
		a.start(t, "burn").ready(t)
		began, used := time.Now(), cpuTime(t, g)
		await(t, "half a second of CPU time", func() bool { return cpuTime(t, g)-used > 0.5 })
		share := (cpuTime(t, g) - used) / time.Since(began).Seconds()
		throttled := statOf(t, g, "nr_throttled")
		if (throttled > 0) != (cpus > 0) || cpus > 0 && share > 2*cpus {
			t.Errorf("cpus %g: throttled in %g periods, %.2f CPUs", cpus, throttled, share)
		}
		a.close(t)
	}
}

// burstMoves checks that time that an idle arm has saved up is used in a busy moment.
func burstMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	for _, burst := range []float64{0, 0.2} {
		a := open(t, environment.Spec{Limits: cgroup.Limits{CPUs: 0.2, Burst: burst}})
		g := a.arm.Place().Group
		if _, err := g.Read("cpu", "cpu.stat"); err != nil || burst > 0 && !strings.Contains(must(g.Read("cpu", "cpu.stat")), "nr_bursts") {
			t.Skip("cpu.stat has no nr_bursts before Linux 5.15")
		}
		a.start(t, "moments").ready(t)
		await(t, "twenty periods with work", func() bool { return statOf(t, g, "nr_periods") >= 20 })
		if bursts := statOf(t, g, "nr_bursts"); (bursts > 0) != (burst > 0) {
			t.Errorf("burst %g: %g bursts", burst, bursts)
		}
		a.close(t)
	}
}

func must(text string, _ error) string { return text }

// cpusetMoves checks that the threads of an arm leave their CPU neither by themselves nor by asking.
func cpusetMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	cpus, err := sched.CPUs(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("needs two CPUs")
	}
	first, last := cpus[0], cpus[len(cpus)-1]
	for _, set := range []string{"", strconv.Itoa(first)} {
		a := open(t, environment.Spec{Limits: cgroup.Limits{CPUSet: set}})
		p := a.start(t, "move", strconv.Itoa(last))
		p.expect(t, environment.Exit{})
		if moved := strings.TrimSpace(p.said(t)) == "on "+strconv.Itoa(last); moved != (set == "") {
			t.Errorf("cpuset %q: asked for CPU %d, the process says %q", set, last, p.said(t))
		}
		a.close(t)
	}
}

// memoryMoves checks that the kernel ends an arm that takes more than its limit, and only that.
func memoryMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	const takes = 256
	for limit, want := range map[uint64]environment.Exit{
		64 << 20: {Code: -1, Signal: "SIGKILL", OOM: true},
		1 << 30:  {},
	} {
		a := open(t, environment.Spec{Limits: cgroup.Limits{Memory: limit}})
		a.start(t, "take", strconv.Itoa(takes)).expect(t, want)
		a.close(t)
	}
}

// networkMoves checks whether a process in the arm reaches a server on the host's loopback.
func networkMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for network, reached := range map[string]bool{environment.NetworkHost: true, environment.NetworkBridge: false, environment.NetworkPublished: false} {
		a := open(t, environment.Spec{Container: environment.Container{Network: network}})
		p := a.start(t, "reach", server.Addr().String())
		p.wait(t)
		if got := p.Exit().Code == 0; got != reached {
			t.Errorf("network %s: reached the host's loopback: %v, want %v", network, got, reached)
		}
		a.close(t)
	}
}

// seccompMoves tries a system call that the default filter refuses.
func seccompMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	for profile, refused := range map[string]bool{environment.Default: true, environment.Unconfined: false} {
		a := open(t, environment.Spec{Container: environment.Container{Seccomp: profile}})
		p := a.start(t, "keyring")
		p.expect(t, environment.Exit{})
		if got := strings.Contains(p.said(t), unix.EPERM.Error()); got != refused {
			t.Errorf("seccomp %s: keyctl says %q, want refused: %v", profile, p.said(t), refused)
		}
		a.close(t)
	}
}

// capabilitiesMove tries to give a file to another user.
func capabilitiesMove(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	for set, refused := range map[string]bool{environment.Default: false, environment.NoCapabilities: true} {
		a := open(t, environment.Spec{Container: environment.Container{Capabilities: set}})
		p := a.start(t, "give", filepath.Join(a.arm.Place().Volume, "table"))
		p.expect(t, environment.Exit{})
		if got := strings.Contains(p.said(t), unix.EPERM.Error()); got != refused {
			t.Errorf("capabilities %s: chown says %q, want refused: %v", set, p.said(t), refused)
		}
		a.close(t)
	}
}

// volumeMoves checks on which directory of the host a process in the arm writes.
func volumeMoves(t *testing.T, open func(*testing.T, environment.Spec) *Arm) {
	for _, volume := range []string{"", "one"} {
		a := open(t, environment.Spec{Volume: volume})
		name := "written"
		a.start(t, "write", filepath.Join(a.arm.Place().Volume, name)).expect(t, environment.Exit{})
		_, err := os.Stat(filepath.Join(a.spec.Volume, "data", name))
		if got := err == nil && a.spec.Volume != ""; got != (volume != "") {
			t.Errorf("volume %q: written to the volume: %v", volume, got)
		}
		a.close(t)
	}
}

// The modes of the processes of effects.
var effectModes = map[string]func(w *words, token string, args []string) int{
	"burn":    burn,
	"moments": moments,
	"move":    move,
	"take":    takeMemory,
	"reach":   reach,
	"keyring": keyring,
	"give":    give,
	"write":   writeFile,
}

// burn computes on one thread until it is killed.
func burn(w *words, _ string, _ []string) int {
	w.setReady()
	for {
		w.tick()
	}
}

// moments computes for 30 ms of CPU time, more than a fifth of a period, and is idle for three periods.
func moments(w *words, _ string, _ []string) int {
	runtime.LockOSThread()
	w.setReady()
	for {
		for used := sched.ProcessCPU(); sched.ProcessCPU()-used < int64(30*time.Millisecond); {
			w.tick()
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// move asks for a CPU and prints on which CPU it runs.
func move(_ *words, _ string, args []string) int {
	runtime.LockOSThread()
	cpu, err := strconv.Atoi(args[0])
	if err != nil {
		return fail(err)
	}
	var set unix.CPUSet
	set.Set(cpu)
	err = unix.SchedSetaffinity(0, &set)
	var on uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&on)), 0, 0); errno != 0 {
		return fail(errno)
	}
	if err != nil {
		fmt.Println(err)
		return 0
	}
	fmt.Println("on", on)
	return 0
}

// takeMemory takes an amount of memory in MiB and ends.
func takeMemory(_ *words, _ string, args []string) int {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return fail(err)
	}
	b := make([]byte, n<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	return 0
}

// reach connects to an address.
func reach(_ *words, _ string, args []string) int {
	c, err := net.DialTimeout("tcp", args[0], 10*time.Second)
	if err != nil {
		return fail(err)
	}
	return result(c.Close())
}

// keyring asks for the id of the process's keyring.
func keyring(*words, string, []string) int {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
	fmt.Println(err)
	return 0
}

// give gives a file to another user.
func give(_ *words, _ string, args []string) int {
	fmt.Println(os.Chown(args[0], 12345, 12345))
	return 0
}

func writeFile(_ *words, _ string, args []string) int {
	return result(os.WriteFile(args[0], []byte("text"), 0o600))
}

func result(err error) int {
	if err != nil {
		return fail(err)
	}
	return 0
}
