package pods

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
)

// TestClusterNeighbour checks that a neighbour in a pod of any class has tare's limits, and that a freeze
// does not include the agent.
func TestClusterNeighbour(t *testing.T) {
	warm(t)
	for _, c := range []struct {
		pod    Pod
		memory uint64 // what is in force
	}{
		{with(t, BestEffort, "image=none"), 64 << 20},
		{with(t, Burstable, "image=none,memory=16Mi,memory-limit=32Mi"), 32 << 20},
	} {
		t.Run(c.pod.Name(), func(t *testing.T) {
			run := runID("beside")
			j, err := journal.Open(t.TempDir(), run)
			if err != nil {
				t.Fatal(err)
			}
			arm, err := c.pod.Open(t.Context(), environment.Spec{
				Run: run, Arm: "arm.neighbour", Scratch: t.TempDir(), Journal: j, Beside: []environment.Environment{c.pod},
				Neighbour: &environment.Neighbour{Limits: cgroup.Limits{Memory: 64 << 20, Pids: 200}, Time: time.Hour},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := arm.Close(); err != nil {
					t.Error(err)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}()
			s := settingsOf(t, arm)
			memory := s["memory.limit_in_bytes"] + s["memory.max"]
			if s["pod.qos"] != c.pod.QoS.String() || memory != strconv.FormatUint(c.memory, 10) || s["pids.max"] != "200" {
				t.Errorf("%v", s)
			}
			bounded(t, arm)
		})
	}
}

// bounded starts a process and reads its limits.
func bounded(t *testing.T, arm environment.OpenArm) {
	t.Helper()
	p := process(t, arm, false, "count")
	defer func() { _ = p.Kill(); ended(t, p) }()
	dir := fmt.Sprintf("/proc/%d/", p.Pid())
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile(dir + "limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^Uid:\s+65532\s`, `(?m)^CapEff:\s+0+$`, `(?m)^CapBnd:\s+0+$`, `(?m)^NoNewPrivs:\s+1$`, `(?m)^Seccomp:\s+2$`, `(?m)^Max cpu time\s+3600\s`,
	} {
		if !regexp.MustCompile(want).Match(append(status, limits...)) {
			t.Errorf("no %s in %s%s", want, status, limits)
		}
	}
	if err := arm.Place().Pause.Freeze(10 * time.Second); err != nil {
		t.Error(err)
	}
	if err := arm.Place().Pause.Thaw(); err != nil {
		t.Error(err)
	}
}
