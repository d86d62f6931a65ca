package remedy

import "github.com/tarelab/tare/record"

func qosLevel() Remedy {
	return Remedy{
		Name: "qos-level", Does: "the neighbour is offline, as openEuler calls it",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_neighbour_online"), Needs: "a kernel of openEuler", Part: 0.9, Sets: "cpu share",
		On: func(l Lost) (Trial, bool) {
			return l.beside("cpu.qos_level=-1", record.KeyQoSLevel, "-1", "0")
		},
	}
}
