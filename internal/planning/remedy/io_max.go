package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// diskBytes is the limit of a neighbour's reads, and of its writes, in bytes per second.
const diskBytes = 10 << 20

func ioMax() Remedy {
	return Remedy{
		Name: "io-max", Does: "the neighbour reads and writes at most 10 MiB/s each",
		For:   []record.LossCause{record.LossNeighbourDisk},
		Gives: record.Say("gives_unused_disk"), Part: 0.8, Sets: "io limit",
		On: func(l Lost) (Trial, bool) {
			return l.beside("io.max=10MiB/s", record.KeyIOBytes, strconv.Itoa(diskBytes), "")
		},
	}
}
