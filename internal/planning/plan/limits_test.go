package plan

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// Limits are of arms that have a group with controllers, and within what the
// host has.
func TestBuildLimits(t *testing.T) {
	c := ladder("")
	for i := range c.Rungs {
		c.Rungs[i].Grouped = c.Rungs[i].Name() != "host"
	}
	c.Rungs = append(c.Rungs, Rung{Environment: place{"guaranteed", facts.Supported()}, Beside: true, Asked: true, Pod: true})
	host := facts.Host{Control: facts.Control{CPUs: []int{0, 1, 2, 5}}}
	for _, x := range []struct {
		arm  experiment.Arm
		want cgroup.Limits
		says string
	}{
		{experiment.Arm{Environment: "cgroup", CPUs: 1.5, Memory: 1 << 30}, cgroup.Limits{CPUs: 1.5, Memory: 1 << 30}, ""},
		{experiment.Arm{Environment: "container", CPUSet: "5,1,0"}, cgroup.Limits{CPUSet: "0-1,5"}, ""},
		{experiment.Arm{Environment: "cgroup", CPUs: 4.5}, cgroup.Limits{}, "more than the 4 CPUs"},
		{experiment.Arm{Environment: "cgroup", CPUSet: "3-5"}, cgroup.Limits{}, "tare may use CPU 0-2,5"},
		{experiment.Arm{Environment: "cgroup", CPUSet: "all"}, cgroup.Limits{}, "is not a list"},
		{experiment.Arm{Environment: "host", CPUs: 1}, cgroup.Limits{}, "no control group"},
		{experiment.Arm{Environment: "guaranteed", Memory: 1 << 30}, cgroup.Limits{}, "its class's"},
	} {
		e := asked("commit")
		x.arm.Name = "x"
		e.Named = []experiment.Arm{{Name: "host", Environment: "host"}, x.arm}
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
