package cli

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

func TestWorthwhile(t *testing.T) {
	arm := func(name string, twin bool) plan.PlannedArm {
		return plan.PlannedArm{Arm: record.Arm{Name: name, Twin: twin}}
	}
	of := func(arms []plan.PlannedArm, left ...record.Left) *plan.Plan {
		return &plan.Plan{Left: left, Loads: []plan.Load{{Workload: record.Workload{Name: "a", Baseline: "host"}, Arms: arms}}}
	}
	alone := []plan.PlannedArm{arm("host", false), arm("twin", true)}
	docker := record.Left{Workload: "a", Arm: "docker", Reason: "Docker is not running", Remedy: "start it"}
	for name, p := range map[string]*plan.Plan{
		"the noise alone":   of(alone),
		"something is left": of(append(alone, arm("runc", false)), docker),
	} {
		if err := worthwhile(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := worthwhile(of(alone, docker, docker))
	if exitCode(err) != exitUnsupported || hint.Of(err) != "start it" || !strings.HasSuffix(err.Error(), ": docker: Docker is not running") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	away := of(alone, record.Left{Workload: "a", Arm: "fast", Reason: "volume=hostpath needs tare on the node", Remedy: "--node-helper"})
	away.PodNode = "node-1"
	if err := worthwhile(away); exitCode(err) != exitUnsupported || hint.Of(err) != "--node-helper" {
		t.Errorf("pods elsewhere: %v (%s)", err, hint.Of(err))
	}
	crun := record.Left{Workload: "a", Arm: "crun", Reason: "crun is not in PATH", Remedy: "install it"}
	err = worthwhile(of(alone, docker, crun))
	if !strings.HasSuffix(err.Error(), ": docker, crun: Docker is not running; crun is not in PATH") || !strings.Contains(hint.Of(err), "tare plan") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

// A run whose budget has no room for four launches says so before it begins; one that compares nothing, or
// has the room, does not.
func TestShortOfVerdicts(t *testing.T) {
	long, short, fixed, alone := timed(3600, 0.01), timed(4, 0.01), timed(3600, 0.01), timed(4, 0.01)
	fixed.Generations = 3
	for i := range alone.Loads {
		alone.Loads[i].Baseline, alone.Loads[i].Arms = "host", alone.Loads[i].Arms[:1]
	}
	for what, c := range map[string]struct {
		p    *plan.Plan
		want string
	}{
		"long": {long, ""}, "short": {short, "too short for verdicts: these need 4 launches of each arm, about "},
		"fixed": {fixed, "the experiment fixes generations: 3; verdicts need 4"}, "alone": {alone, ""},
	} {
		if got := shortOfVerdicts(c.p); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
