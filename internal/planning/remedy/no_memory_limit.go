package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

func noMemoryLimit() Remedy {
	return Remedy{
		Name: "no-memory-limit", Does: "the load has no memory limit",
		For:   []record.LossCause{record.LossMemoryLimit},
		Gives: record.Say("gives_memory_bound"), Part: 0.95, Sets: "memory limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.MemoryBytes = 0
			t := change(a, record.OnLoad, record.KeyMemoryMax, "", strconv.FormatInt(l.Arm.MemoryBytes, 10))
			t.Gives = record.Say("gives_memory_bound_of", "bytes", l.Arm.MemoryBytes)
			return t, l.Arm.MemoryBytes > 0
		},
	}
}
