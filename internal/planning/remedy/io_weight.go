package remedy

import "github.com/tarelab/tare/record"

func ioWeight() Remedy {
	return Remedy{
		Name: "io-weight", Does: "the neighbour has the smallest weight in the division of the disk's time",
		For:   []record.LossCause{record.LossNeighbourDisk},
		Gives: record.Say("gives_neighbour_disk_share"), Needs: "the I/O scheduler BFQ", Part: 0.5, Sets: "io weight",
		On: func(l Lost) (Trial, bool) {
			return l.beside("io.weight=1", record.KeyIOWeight, "1", "")
		},
	}
}
