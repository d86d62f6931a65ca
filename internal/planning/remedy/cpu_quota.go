package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// quarter is the share of all CPUs in the quota of a neighbour.
const quarter = 0.25

func cpuQuota() Remedy {
	return Remedy{
		Name: "cpu-quota", Does: "the neighbour uses at most a quarter of the CPU time",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_unused_cpu"), Part: 0.6, Sets: "cpu quota",
		On: func(l Lost) (Trial, bool) {
			t, ok := l.beside("cpu.quota=25%", record.KeyCPUMax, l.quarter(), "")
			t.Gives = l.unused()
			return t, ok
		},
	}
}

// unused is what the neighbour may not use, also when nobody else does.
func (l Lost) unused() record.Said {
	return record.Say("gives_up_to_unused", "cpus", (1-quarter)*float64(len(l.CPUs)))
}

// quarter is a quarter of the CPUs, in CPU seconds per second.
func (l Lost) quarter() string { return strconv.FormatFloat(quarter*float64(len(l.CPUs)), 'g', -1, 64) }
