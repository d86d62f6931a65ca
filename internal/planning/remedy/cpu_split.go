package remedy

import (
	"fmt"

	"github.com/tarelab/tare/record"
	"k8s.io/utils/cpuset"
)

func cpuSplit() Remedy {
	return Remedy{
		Name: "cpu-split", Does: "the neighbour and the load have CPUs of their own",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_cpus_of_other"), Needs: "two CPUs", Part: 0.55, Sets: "cpuset",
		On: func(l Lost) (Trial, bool) {
			n := len(l.CPUs)
			last := max(1, n/4)
			if n < 2 || l.Arm.CPUSet != "" {
				return Trial{}, false
			}
			apply := []record.RemedySetting{
				setting(record.OnNeighbour, record.KeyCPUSet, cpuset.New(l.CPUs[n-last:]...).String()),
				setting(record.OnLoad, record.KeyCPUSet, cpuset.New(l.CPUs[:n-last]...).String()),
			}
			undo := []record.RemedySetting{setting(record.OnNeighbour, record.KeyCPUSet, ""), setting(record.OnLoad, record.KeyCPUSet, "")}
			t, ok := l.isolated(fmt.Sprintf("cpuset.split=%d", last), apply, undo)
			t.Gives = record.Say("gives_cpus_of_both", "load", last, "neighbour", n-last)
			return t, ok
		},
	}
}
