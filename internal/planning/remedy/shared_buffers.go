package remedy

import (
	"strconv"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// scaleBytes is about what one unit of pgbench's scale takes in PostgreSQL.
const scaleBytes = 16 << 20

func sharedBuffers() Remedy {
	return Remedy{
		Name: "shared-buffers", Does: "PostgreSQL's shared buffers hold the data and fit into the memory",
		For:   []record.LossCause{record.LossServer, record.LossVolume, record.LossNeighbourDisk, record.LossMemoryLimit, record.LossPod, record.LossOverlay},
		Gives: record.Say("gives_memory"), Part: 0.6, Sets: "buffer pool",
		On: func(l Lost) (Trial, bool) {
			now := workload.Bytes(l.Params, "shared_buffers")
			want := l.cache(whole(l.Params["scale"])*scaleBytes, now)
			t := change(l.set("shared_buffers", strconv.FormatInt(want>>20, 10)+"M"), record.OnServer, record.KeySharedBuffers,
				strconv.FormatInt(want, 10), strconv.FormatInt(now, 10))
			t.Gives = memory(want - now)
			return t, now > 0 && want > 0 && want != now
		},
	}
}
