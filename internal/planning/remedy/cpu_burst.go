package remedy

import "github.com/tarelab/tare/record"

func cpuBurst() Remedy {
	return Remedy{
		Name: "cpu-burst", Does: "the neighbour uses at most a quarter of the CPU time, and as much again of what it left before",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_unused_cpu"), Needs: "Linux 5.14", Part: 0.5, Sets: "cpu quota",
		On: func(l Lost) (Trial, bool) {
			apply := []record.RemedySetting{
				setting(record.OnNeighbour, record.KeyCPUMax, l.quarter()), setting(record.OnNeighbour, record.KeyCPUBurst, l.quarter()),
			}
			undo := []record.RemedySetting{setting(record.OnNeighbour, record.KeyCPUMax, ""), setting(record.OnNeighbour, record.KeyCPUBurst, "0")}
			t, ok := l.isolated("cpu.burst=25%", apply, undo)
			t.Gives = l.unused()
			return t, ok
		},
	}
}
