package environmenttest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Choice changes the defaults of a container, which are a published port, the engine's seccomp filter
// and capabilities, and data in the container's layer.
type Choice struct {
	Container environment.Container
	// Volume is a directory of the test as the arm's volume.
	Volume bool
	// Limited is a quota of half a CPU, the first CPU and 256 MiB of memory.
	Limited bool
	// Limits are those of an effect.
	Limits cgroup.Limits
}

// ofContainers is the table of levels. An entry has one choice, or two that are independent.
var ofContainers = []Level{
	{
		// No port is published: addresses differ, and missing isolation is reported.
		Name:    "network host",
		Options: Options{Choice: Choice{Container: environment.Container{Network: environment.NetworkHost}}, Cases: []string{"settings", "server and client"}},
	},
	{
		// No address translation; without a filter all system calls reach the kernel.
		Name:    "network bridge, no filter",
		Options: Options{Choice: Choice{Container: environment.Container{Network: environment.NetworkBridge, Seccomp: environment.Unconfined}}, Cases: []string{"settings", "server and client"}},
	},
	{
		// Without capabilities: no writing to other users' files, no network links, no higher limits.
		Name:    "no capabilities",
		Options: Options{Choice: Choice{Container: environment.Container{Capabilities: environment.NoCapabilities}}, Cases: []string{"settings", "what a process is given", "data"}},
	},
	{
		// The words for the defaults change nothing.
		Name: "defaults by name",
		Options: Options{Choice: Choice{Container: environment.Container{
			Network: environment.NetworkPublished, Seccomp: environment.Default, Capabilities: environment.Default,
		}}, Cases: []string{"settings"}},
	},
	{
		// The data is on the host and is removed with the arm.
		Name:    "bound data",
		Options: Options{Bind: true, Cases: []string{"data", "closed while in use"}},
	},
	{
		// The data is on another file system, which stays.
		Name:    "volume",
		Options: Options{Choice: Choice{Volume: true}, Cases: []string{"data"}},
	},
	{
		// Limits of the group around the container hold for the container.
		Name:    "limits",
		Options: Options{Choice: Choice{Limited: true}, Cases: []string{"settings"}},
	},
}

// ContainerLevels are the levels of an environment that makes containers; with names, only those.
func ContainerLevels(t *testing.T, env environment.Environment, names ...string) (all []Level) {
	for _, l := range ofContainers {
		if len(names) == 0 || slices.Contains(names, l.Name) {
			l.Env = env
			all = append(all, l)
		}
	}
	if len(names) > 0 && len(all) != len(names) {
		t.Fatalf("not all of %q are levels", names)
	}
	return all
}

// refused checks that Open refuses a choice and leaves nothing.
func refused(t *testing.T, l Level, host facts.Host, why error) {
	t.Logf("refused: %v", why)
	if hint.Of(why) == "" {
		t.Errorf("%v: refused without a remedy", why)
	}
	spec := newSpec(t, suite{env: l.Env, host: host, opts: l.Options}, nil)
	a, err := l.Env.Open(t.Context(), spec)
	if err == nil {
		a.Close()
	}
	if !errors.Is(err, facts.ErrUnsupported) {
		t.Errorf("opened with %v, want ErrUnsupported", err)
	}
	if left, _ := os.ReadDir(spec.Scratch); len(left) > 0 {
		t.Errorf("left in the scratch directory: %v", left)
	}
}

// apply adds the choice to a Spec.
func (c Choice) apply(t *testing.T, spec *environment.Spec) {
	image := spec.Container.Image
	spec.Container = c.Container
	spec.Container.Image = cmp.Or(image, spec.Container.Image)
	if c.Volume {
		spec.Volume = t.TempDir()
	}
	spec.Limits = c.Limits
	if c.Limited {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		first := 0
		for !set.IsSet(first) {
			first++
		}
		spec.Limits = cgroup.Limits{CPUs: 0.5, Memory: 256 << 20, CPUSet: strconv.Itoa(first)}
	}
}

// limited compares the limits with the kernel's state of the group and of the process.
func (f *fixture) limited(t *testing.T) {
	t.Helper()
	l := f.spec.Limits
	if !f.opts.Choice.Limited {
		return
	}
	settings, err := f.arm.Settings()
	if err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Got
	}
	for name, want := range map[string]string{
		"cpu.quota": "0.05 s", "memory.limit": fmt.Sprint(l.Memory), "cpuset.cpus": l.CPUSet, "cpus.allowed": l.CPUSet,
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	f.swapLimited(t, got)
}

// chosen compares the choice with the kernel's state of a process in the arm, without using the
// environment's settings.
func (f *fixture) chosen(t *testing.T, p process) {
	t.Helper()
	f.limited(t)
	c := f.spec.Container
	if c == (environment.Container{Image: c.Image}) {
		return
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		t.Error(err)
	}
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	const disabled, filtered = "0", "2"
	if want := map[string]string{environment.Unconfined: disabled, environment.Default: filtered}[c.Seccomp]; want != "" && status["Seccomp"] != want {
		t.Errorf("seccomp is %s, want %s (%s)", status["Seccomp"], want, c.Seccomp)
	}
	if powerless := strings.Trim(status["CapEff"], "0") == ""; c.Capabilities != "" && powerless != (c.Capabilities == environment.NoCapabilities) {
		t.Errorf("capabilities are %s, want %s", status["CapEff"], c.Capabilities)
	}
	if c.Network == "" {
		return
	}
	var nets []string
	for _, of := range []string{"self", fmt.Sprint(p.Pid())} {
		net, err := os.Readlink("/proc/" + of + "/ns/net")
		if err != nil {
			t.Error(err)
		}
		nets = append(nets, net)
	}
	if host := len(slices.Compact(nets)) == 1; host != (c.Network == environment.NetworkHost) {
		t.Errorf("network %s: %v", c.Network, nets)
	}
	place := f.arm.Place()
	port := c.Network == environment.NetworkPublished || c.Network == environment.NetworkEngine
	if published := place.Dial != place.Listen; published != port {
		t.Errorf("network %s: listens at %s, is reached at %s", c.Network, place.Listen, place.Dial)
	}
}

// swapLimited compares the limit of swap with the kernel's: as Docker has it, the memory limit again.
func (f *fixture) swapLimited(t *testing.T, got map[string]string) {
	t.Helper()
	g := f.arm.Place().Group
	for file, want := range map[string]uint64{"memory.swap.max": f.spec.Limits.Memory, "memory.memsw.limit_in_bytes": 2 * f.spec.Limits.Memory} {
		text, err := g.Read("memory", file)
		if err != nil {
			continue // the other version, or swap is not accounted
		}
		if text != fmt.Sprint(want) || got["memory.swap.limit"] != fmt.Sprint(f.spec.Limits.Memory) {
			t.Errorf("%s reads %s, want %d; the settings say %q", file, text, want, got["memory.swap.limit"])
		}
	}
}
