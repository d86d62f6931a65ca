package plan

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"

	"github.com/tarelab/tare/record"
)

// Only arms in control groups with controllers have limits, within what the host has.
func TestBuildLimits(t *testing.T) {
	c := ladder("")
	c.Rungs = append(c.Rungs, byName("guaranteed", environment.Capabilities{Pod: true}))
	host := facts.Host{Control: facts.Control{CPUs: []int{0, 1, 2, 5}}}
	e := asked("commit")
	e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, {Name: "x", Environment: "cgroup", Options: record.Options{CPUs: 1, Burst: 1}}}
	e.Workloads[0].Baseline = "host"
	if p, err := Build(e, c, host, nil); err != nil || len(p.Left) != 1 || p.Left[0].Arm != "x" || p.Left[0].Reason.IsZero() {
		t.Errorf("a burst on a host without control groups: %v, %+v", err, p)
	}
	for _, x := range []struct {
		arm  experiment.ArmSpec
		want cgroup.Limits
		says string
	}{
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{CPUs: 1.5, MemoryBytes: 1 << 30}}, cgroup.Limits{CPUs: 1.5, Memory: 1 << 30}, ""},
		{experiment.ArmSpec{Environment: "container", Options: record.Options{CPUSet: "5,1,0"}}, cgroup.Limits{CPUSet: "0-1,5"}, ""},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{CPUs: 4.5}}, cgroup.Limits{}, "more than the 4 CPUs"},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{Weight: 20}}, cgroup.Limits{Weight: 20}, ""},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{Burst: 1}}, cgroup.Limits{}, "no quota"},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{CPUs: 1, Burst: 1.5}}, cgroup.Limits{}, "more than the quota"},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{CPUSet: "3-5"}}, cgroup.Limits{}, "tare may use CPU 0-2,5"},
		{experiment.ArmSpec{Environment: "cgroup", Options: record.Options{CPUSet: "all"}}, cgroup.Limits{}, "is not a list"},
		{experiment.ArmSpec{Environment: "host", Options: record.Options{CPUs: 1}}, cgroup.Limits{}, "no control group"},
		{experiment.ArmSpec{Environment: "guaranteed", Options: record.Options{MemoryBytes: 1 << 30}}, cgroup.Limits{}, "its class's"},
	} {
		e := asked("commit")
		x.arm.Name = "x"
		e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, x.arm}
		e.Workloads[0].Baseline = "host"
		p, err := Build(e, c, host, nil)
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) || hint.Of(err) == "" && x.arm.CPUSet != "all" {
				t.Errorf("%+v: %v (%s), want an error that says %q", x.arm, err, hint.Of(err), x.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if a := p.Loads[0].Arms[2]; a.Limits != x.want || a.CPUs != x.arm.CPUs || a.Shares != "" {
			t.Errorf("%+v: %+v", x.arm, a)
		}
	}
}
