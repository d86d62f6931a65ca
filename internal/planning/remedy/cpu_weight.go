package remedy

import "github.com/tarelab/tare/record"

func cpuWeight() Remedy {
	return Remedy{
		Name: "cpu-weight", Does: "the neighbour has the smallest weight in the division of CPU time",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_neighbour_share"), Part: 0.85, Sets: "cpu share",
		On: func(l Lost) (Trial, bool) {
			return l.beside("cpu.weight=1", record.KeyCPUWeight, "1", "")
		},
	}
}
