package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// memoryBytes is the bound above which a neighbour reclaims its own memory.
const memoryBytes = 128 << 20

func memoryHigh() Remedy {
	return Remedy{
		Name: "memory-high", Does: "the neighbour reclaims its own memory above 128 MiB",
		For:   []record.LossCause{record.LossNeighbourMemory},
		Gives: record.Say("gives_neighbour_speed"), Needs: "control groups of version 2", Part: 0.8, Sets: "memory",
		On: func(l Lost) (Trial, bool) {
			return l.beside("memory.high=128MiB", record.KeyMemoryHigh, strconv.Itoa(memoryBytes), "")
		},
	}
}
