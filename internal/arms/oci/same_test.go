package oci

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestTheLadderEndsWhereTheContainerBegins checks that a process sees the same on the top rung and in a
// container, except for surroundings: the difference between the two is the runtime.
func TestTheLadderEndsWhereTheContainerBegins(t *testing.T) {
	testneed.Root(t)
	rung := surroundings(t, layers.NAT)
	for _, runtime := range Runtimes() {
		t.Run(runtime, func(t *testing.T) {
			testneed.Tool(t, runtime)
			container := surroundings(t, Container{Runtime: runtime})
			if diff := cmp.Diff(rung, container); diff != "" {
				t.Errorf("rung (-) and container (+):\n%s", diff)
			}
		})
	}
}

// seen has the values that must be equal.
type seen struct {
	Pid              int
	Env, Mounts, Dev []string
	Dir, Limits      string
	Try, Status      map[string]string
}

func surroundings(t *testing.T, e environment.Environment) seen {
	a := launchtest.Open(t, e, func(s *environment.Spec) { s.Port = 4000 })
	_, v := launchtest.Start(t, a, environment.Process{})
	s := seen{Pid: v.Pid, Env: v.Env, Dev: v.Dev, Dir: v.Dir, Limits: v.Limits, Try: v.Try, Status: map[string]string{}}
	s.Dev = slices.DeleteFunc(s.Dev, func(name string) bool { return name == "core" }) // crun makes it always
	for _, m := range v.Mounts {
		point, rest, _ := strings.Cut(m, " ")
		switch {
		case point == launch.Exe: // how the runtime gets at the binary
			continue
		case strings.HasPrefix(point, "/sys/fs/cgroup/"): // hierarchies that the rung has no group in
			continue
		case strings.HasPrefix(point, "/proc/"), strings.HasPrefix(point, "/sys/"): // masks and read-only paths: crun's options differ
			rest = ""
		}
		s.Mounts = append(s.Mounts, point+" "+rest)
	}
	for _, key := range []string{
		"Name", "Umask", "Uid", "Gid", "Groups", "NSpid", "NSsid", "NSpgid", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
		"NoNewPrivs", "Seccomp", "Seccomp_filters", "Speculation_Store_Bypass", "SpeculationIndirectBranch",
		"Cpus_allowed_list", "Mems_allowed_list", "SigIgn", "SigBlk", "THP_enabled",
	} {
		s.Status[key] = v.Status[key]
	}
	// Under nohup the rung inherits an ignored SIGHUP, which a runtime resets.
	if mask, err := strconv.ParseUint(s.Status["SigIgn"], 16, 64); err == nil {
		s.Status["SigIgn"] = strconv.FormatUint(mask&^1, 16)
	}
	return s
}
