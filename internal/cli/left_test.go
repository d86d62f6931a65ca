package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
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
	docker := record.Left{Workload: "a", Arm: "docker", Reason: record.InProse("Docker is not running"), Remedy: record.InProse("start it")}
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
	away := of(alone, record.Left{Workload: "a", Arm: "fast", Reason: record.InProse("volume=hostpath needs tare on the node"), Remedy: record.InProse("--node-helper")})
	away.PodNode = "node-1"
	if err := worthwhile(away); exitCode(err) != exitUnsupported || hint.Of(err) != "--node-helper" {
		t.Errorf("pods elsewhere: %v (%s)", err, hint.Of(err))
	}
	crun := record.Left{Workload: "a", Arm: "crun", Reason: record.InProse("crun is not in PATH"), Remedy: record.InProse("install it")}
	err = worthwhile(of(alone, docker, crun))
	if !strings.HasSuffix(err.Error(), ": docker, crun: Docker is not running; crun is not in PATH") || hint.Of(err) != "docker: start it; crun: install it" {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

// TestLeaveOutLonely checks that a load whose baseline would be alone is left out by name, and that one with an
// objective stays.
func TestLeaveOutLonely(t *testing.T) {
	load := func(name string, objective *record.Objective, arms ...string) plan.Load {
		l := plan.Load{Workload: record.Workload{Name: name, Baseline: "host", Objective: objective, Budget: 1}}
		for _, a := range arms {
			l.Arms = append(l.Arms, plan.PlannedArm{Arm: record.Arm{Name: a, Twin: a == "twin"}})
		}
		return l
	}
	p := &plan.Plan{
		Record: record.Plan{Budget: 60},
		Loads: []plan.Load{load("compares", nil, "host", "twin", "runc"), load("lonely", nil, "host", "twin"),
			load("judged", &record.Objective{Metric: "p99", Most: 1}, "host", "twin"), load("noise", nil, "host", "twin")},
		Left: []record.Left{{Workload: "lonely", Arm: "docker", Reason: record.InProse("not running"), Remedy: record.InProse("start it")}, {Workload: "judged", Arm: "docker", Reason: record.InProse("not running")}},
	}
	leaveOutLonely(p)
	var names []string
	for _, l := range p.Loads {
		names = append(names, l.Name)
	}
	want := record.Left{Workload: "lonely", Reason: record.Say("of_arm", "arm", "docker", "why", record.InProse("not running")), Remedy: record.InProse("start it")}
	if got := strings.Join(names, " "); got != "compares judged noise" || !slices.Contains(p.Left, want) {
		t.Errorf("loads %s, left out %+v", got, p.Left)
	}
}

// known makes every load of a plan known, by runs whose launches took so many seconds.
func known(p *plan.Plan, launch float64) *plan.Plan {
	for i := range p.Loads {
		p.Loads[i].Known = &record.Known{Runs: 1, Begin: 2 * launch, Launch: launch, Slot: 0.1, Operations: 100, Windows: 10,
			Narrowest: 0.01, Widest: 0.04, Seconds: 10}
	}
	return p
}

// A run that has room for fewer than four launches says so before it begins, with the budget that would do; where nothing is
// known of a load, it says that. One that compares nothing, or has the room, says nothing.
func TestLaunchNotice(t *testing.T) {
	fixed, alone, data := timed(3600, 0.01), timed(4, 0.01), timed(3600, 0.01)
	fixed.Generations = 3
	for i := range alone.Loads {
		alone.Loads[i].Baseline, alone.Loads[i].Arms = "host", alone.Loads[i].Arms[:1]
		data.Loads[i].Stages.Data = int64(24+i) << 30
	}
	for what, c := range map[string]struct {
		p    *plan.Plan
		want string
	}{
		"unknown":           {timed(3600, 0.01), "verdicts need 4 launches of each arm; how long these take is unknown before a first run here of oltp, rpc"},
		"unknown, and data": {data, "verdicts need 4 launches of each arm; how long these take is unknown before a first run here of oltp (up to 24 GiB of data), rpc (up to 25 GiB of data)"},
		"too short for any": {timed(4, 0.01), "too short for verdicts: these need 4 launches of each arm, at least 35 s; fewer arms (--arms) need less"},
		"known, long":       {known(timed(3600, 0.01), 8), ""},
		"known, short":      {known(timed(120, 0.01), 8), "too short for verdicts: room for 2 of the 4 launches of each arm that these need; by earlier runs here --budget 3m would do, and fewer arms (--arms) need less"},
		"known, tiny":       {known(timed(20, 0.01), 8), "too short for verdicts: room for 1 of the 4 launches of each arm that these need; by earlier runs here --budget 3m would do, and fewer arms (--arms) need less"},
		"fixed":             {fixed, "the experiment fixes generations: 3; verdicts need 4"},
		"alone":             {alone, ""},
	} {
		if got := launchNotice(c.p, messages.Catalog{}); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
