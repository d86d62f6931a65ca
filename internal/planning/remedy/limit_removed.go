package remedy

import (
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

func limitRemoved() Remedy {
	return Remedy{
		Name: "no-cpu-limit", Does: "the load has no CPU limit",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: record.Say("gives_bound"), Part: 0.95, Sets: "cpu limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			if class, levels := l.levels(); levelOf(levels, "cpu-limit") != "" {
				a.Environment = withoutLevel(class, levels, "cpu-limit")
				limit := cpusOf(levelOf(levels, "cpu-limit"))
				t := change(a, record.OnLoad, record.KeyPodCPULimit, "", decimal(limit))
				t.Gives = unbound(limit)
				return t, true
			}
			limited := a.CPUs > 0
			if name, _ := l.levels(); name == "cpu-limit" {
				a.Environment, limited = strings.Replace(a.Environment, "cpu-limit", "cgroup", 1), true
			}
			a.CPUs, a.Burst = 0, 0
			t := change(a, record.OnLoad, record.KeyCPUMax, "", l.limit())
			if l.Arm.CPUs > 0 {
				t.Gives = unbound(l.Arm.CPUs)
			}
			return t, limited
		},
	}
}

func unbound(cpus float64) record.Said { return record.Say("gives_bound_of", "cpus", cpus) }

// limit is the CPU limit of the arm; empty: none of its own.
func (l Lost) limit() string {
	if l.Arm.CPUs == 0 {
		return ""
	}
	return decimal(l.Arm.CPUs)
}

func decimal(cpus float64) string { return strconv.FormatFloat(cpus, 'g', -1, 64) }
