package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// Groups of several hierarchies of version 1 are one line; nothing else is merged.
func TestTogether(t *testing.T) {
	got := mergeHierarchies([]hostChange{
		{"directory /var/tmp/tare-RUN/tare-RUN-a", "its own data directory"},
		{"cgroup /sys/fs/cgroup/unified/tare-RUN/a", "controllers cpu, memory; a quota of 1.5 CPUs"},
		{"cgroup /sys/fs/cgroup/cpu,cpuacct/tare-RUN/a", "controllers cpu, memory; a quota of 1.5 CPUs"},
		{"cgroup /sys/fs/cgroup/memory/tare-RUN/a", "controllers cpu, memory; a quota of 1.5 CPUs"},
		{"cgroup /sys/fs/cgroup/unified/tare-RUN/a-outside", "for what runs beside the arm"},
		{"cgroup /sys/fs/cgroup/memory/tare-RUN-a.neighbour", "for the neighbour, with limits"},
		{"cgroup /sys/fs/cgroup/pids/tare-RUN-a.neighbour", "for the neighbour, with limits"},
		{"cgroup /mnt/pids/tare-RUN-a.neighbour", "for the neighbour, with limits"},
		{"cgroup /sys/fs/cgroup/x/kubepods", "not of tare's names"},
	})
	want := []hostChange{
		{"directory /var/tmp/tare-RUN/tare-RUN-a", "its own data directory"},
		{"cgroup /sys/fs/cgroup/*/tare-RUN/a", "* is unified, cpu,cpuacct, memory; a quota of 1.5 CPUs"},
		{"cgroup /sys/fs/cgroup/unified/tare-RUN/a-outside", "for what runs beside the arm"},
		{"cgroup /sys/fs/cgroup/*/tare-RUN-a.neighbour", "for the neighbour, with limits; * is memory, pids"},
		{"cgroup /mnt/pids/tare-RUN-a.neighbour", "for the neighbour, with limits"},
		{"cgroup /sys/fs/cgroup/x/kubepods", "not of tare's names"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// atTheTop finds groups beside system.slice, not those below a user's.
func TestAtTheTop(t *testing.T) {
	for what, want := range map[string]bool{
		"cgroup /sys/fs/cgroup/tare-RUN/a": true, "cgroup /sys/fs/cgroup/cpu,cpuacct/tare-RUN": true, "directory /var/tmp/tare-RUN": false,
		"cgroup /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/x.scope/tare-RUN/a": false, "cgroup /sys/fs/cgroup/cpu/docker/1/tare-RUN": false,
	} {
		if got := hasTopGroup([]armChanges{{Arm: "a", Changes: []hostChange{{"directory /x", ""}, {what, ""}}}}); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// changing is an environment with a change.
type changing struct {
	environment.Environment
	what string
}

func (c changing) Changes(environment.Spec) []facts.Change {
	return []facts.Change{{What: c.what, Detail: "plain"}}
}

func (changing) Capabilities() (c environment.Capabilities) { return c }

// The plan of root's run says below the changes what the groups weigh. A user's plan does not.
func TestPlanOfGroups(t *testing.T) {
	const weigh = "  " + topWeight + "\n"
	for what, want := range map[string]bool{
		"cgroup /sys/fs/cgroup/tare-RUN/a": true,
		"cgroup /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/x.scope/tare-RUN/a": false,
	} {
		arm := plan.PlannedArm{Arm: record.Arm{Name: "a"}, Env: changing{what: what}}
		built := &plan.Plan{Loads: []plan.Load{{Workload: record.Workload{Name: "w", Kind: "rpc", Baseline: "a"}, Arms: []plan.PlannedArm{arm}}}}
		p := &sheet{width: 200, piped: true, c: &console{color: "never"}}
		p.plan(built, "title")
		_, below, ok := strings.Cut(p.String(), "  a  "+what+"  plain\n")
		if !ok || strings.HasPrefix(below, weigh) != want || strings.Contains(p.String(), "default weight") != want {
			t.Errorf("%s:\n%s", what, p.String())
		}
	}
}

// Rows too wide for a terminal are wrapped without loss.
func TestColumnsFit(t *testing.T) {
	rows := [][3]string{
		{"host", "the host itself, nothing added", "baseline"},
		{"container", "a real container through runc or crun, with Docker's defaults", "remainder over security"},
		{"", "overlay mount", "over / in the load's own mount namespace; the host sees none of it"},
	}
	for _, width := range []int{50, 80, 120, 200} {
		p := &sheet{c: &console{}, width: width}
		p.columns(rows)
		text := p.String()
		if all := strings.Join(strings.Fields(text), " "); !strings.Contains(all, "the host itself, nothing added baseline container a real") || !strings.HasSuffix(all, "the host sees none of it") {
			t.Errorf("%d: %s", width, text)
		}
		for _, l := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(l) >= width {
				t.Errorf("%d columns: %q", width, l)
			}
		}
	}
}

// A plan without anything to compare does not say how to run it.
func TestPlanOfNothing(t *testing.T) {
	built := &plan.Plan{
		Loads: []plan.Load{{Workload: record.Workload{Name: "a", Kind: "rpc", Baseline: "host"}}},
		Left:  []record.Left{{Workload: "a", Arm: "docker", Reason: "Docker is not running", Remedy: "start it"}},
	}
	p := &sheet{width: 80, c: &console{color: "never"}}
	p.plan(built, "title")
	text := p.String()
	wantText(t, "the plan", text, "skipped on this host\n  docker  Docker is not running\n          hint: start it\n", "\ntare run ends at once: nothing is left to compare with host\n")
	if strings.Contains(text, "to run it") {
		t.Error(text)
	}
}
