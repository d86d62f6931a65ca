package remedy

import (
	"strconv"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

func noMemoryLimit() Remedy {
	return Remedy{
		Name: "no-memory-limit", Does: "the load has no memory limit",
		For:   []record.LossCause{record.LossMemoryLimit},
		Gives: "the bound on the memory of the load", Part: 0.95, Sets: "memory limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Memory = 0
			t := change(a, record.OnLoad, record.KeyMemoryMax, "", strconv.FormatInt(l.Arm.Memory, 10))
			t.Gives = "the bound of " + quantity.Bytes(float64(l.Arm.Memory)) + " on the load: where the host's memory runs out, the kernel's OOM killer chooses among all processes"
			return t, l.Arm.Memory > 0
		},
	}
}
