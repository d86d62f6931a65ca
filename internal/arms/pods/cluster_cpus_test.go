package pods

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestClusterExclusive checks that a Guaranteed pod that requests whole CPUs gets exclusive ones where the
// CPU manager is static, and that the settings list them.
func TestClusterExclusive(t *testing.T) {
	warm(t)
	whole, err := opened(t, with(t, Guaranteed, "image=none,memory=128Mi,cpu=integer"), runID("whole"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, whole)
	t.Log(s["pod.cpu.max"])
	if !strings.Contains(s["pod.cpu.max"], "of whole CPUs "+s["pod.limits.cpu"]) || strings.Contains(s["pod.limits.cpu"], "m") {
		t.Errorf("%v", s)
	}
	if s["pod.cpu.manager"] != kube.StaticPolicy {
		if !strings.Contains(s["pod.cpu.exclusive"], "none: the policy") {
			t.Errorf("%v", s)
		}
		testneed.Feature(t, "static CPU manager", errors.New("the policy of the node is "+s["pod.cpu.manager"]))
	}
	t.Log("exclusive", s["pod.cpu.exclusive"], "; quota", s["pod.cpu.quota"], s["cpu.cfs_quota_us"], s["cpu.max"])
	if s["pod.cpu.exclusive"] == "" || s["pod.cpu.exclusive"] != s["cpuset.cpus"] || !strings.Contains(s["pod.cpu.quota"], "none beside") {
		t.Errorf("%v", s)
	}
	if got := allowed(t, whole); got != s["pod.cpu.exclusive"] {
		t.Errorf("a process there may use the CPUs %s, not %s", got, s["pod.cpu.exclusive"])
	}
	shared, err := opened(t, with(t, BestEffort, "image=none"), runID("rest"))
	if err != nil {
		t.Fatal(err)
	}
	rest := settingsOf(t, shared)
	if rest["pod.cpu.pool"] == "" || rest["pod.cpu.pool"] == s["pod.cpu.exclusive"] || allowed(t, shared) != rest["pod.cpu.pool"] {
		t.Errorf("beside CPUs %s: %v", s["pod.cpu.exclusive"], rest)
	}
	if err := whole.Close(); err != nil {
		t.Error(err)
	}
	part, err := opened(t, with(t, Guaranteed, "image=none,memory=128Mi,cpu=1500m"), runID("part"))
	if err != nil {
		t.Fatal(err)
	}
	if s := settingsOf(t, part); s["pod.cpu.exclusive"] != "none: 1500m is no whole number (cpu=integer)" {
		t.Errorf("%v", s)
	}
	// Requests that do not fit have the explanation of cpu=max, in all classes.
	_, err = opened(t, with(t, Burstable, "image=none,memory=128Mi,cpu=1000"), runID("many"))
	if err == nil || !strings.Contains(err.Error(), "Insufficient cpu") || !strings.Contains(err.Error(), "1k does not fit: ") || !strings.Contains(err.Error(), " fits") {
		t.Errorf("%v", err)
	}
	if _, err := shared.Settings(); err != nil {
		t.Errorf("what is left to others has changed, which is no fault: %v", err)
	}
}

// allowed are the CPUs that a process in the arm may use.
func allowed(t *testing.T, arm environment.OpenArm) string {
	t.Helper()
	p := process(t, arm, false, "deaf")
	defer func() { _ = p.Kill(); ended(t, p) }()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "Cpus_allowed_list:")
	list, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(list)
}
