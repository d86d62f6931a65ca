package remedy

import "github.com/tarelab/tare/record"

func cpuIdle() Remedy {
	return Remedy{
		Name: "cpu-idle", Does: "the neighbour runs only on CPU time that nobody else wants",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_neighbour_turn"), Needs: "Linux 5.15", Part: 0.95, Sets: "cpu share",
		On: func(l Lost) (Trial, bool) {
			return l.beside("cpu.idle", record.KeyCPUIdle, "1", "0")
		},
	}
}
