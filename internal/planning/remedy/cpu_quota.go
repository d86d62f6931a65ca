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
		Gives: "CPU time that nobody uses", Part: 0.6, Sets: "cpu quota",
		On: func(l Lost) (Trial, bool) {
			return l.beside("cpu.quota=25%", record.KeyCPUMax, l.quarter(), "")
		},
	}
}

// quarter is a quarter of the CPUs, in CPU seconds per second.
func (l Lost) quarter() string { return strconv.FormatFloat(quarter*float64(len(l.CPUs)), 'g', -1, 64) }
