package remedy

import (
	"strings"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

func ioCapacity() Remedy {
	return Remedy{
		Name: "io-capacity", Does: "InnoDB writes up to 2000 pages per second in the background",
		For:   []record.LossCause{record.LossVolume, record.LossNeighbourDisk},
		Gives: record.Say("gives_disk_of_others"), Part: 0.15, Sets: "io capacity",
		On: func(l Lost) (Trial, bool) {
			now, has := l.Params["server_options"]
			options := "--innodb-io-capacity=2000"
			if now != workload.None {
				options = now + " " + options
			}
			t := change(l.set("server_options", options), record.OnServer, record.KeyIOCapacity, "2000", "")
			return t, has && l.Params["flush_method"] != "" && !strings.Contains(now, "io-capacity") && !strings.Contains(now, "io_capacity")
		},
	}
}
