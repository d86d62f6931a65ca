package remedy

import (
	"strconv"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// memory is an amount of memory that is given up; empty: none is.
func memory(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return quantity.Bytes(float64(bytes)) + " of memory"
}

func memoryLimit() Remedy {
	return Remedy{
		Name: "memory-doubled", Does: "the memory limit is twice as large",
		For:   []record.LossCause{record.LossMemoryLimit},
		Gives: "memory", Part: 0.8, Sets: "memory limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Memory *= 2
			t := change(a, record.OnLoad, record.KeyMemoryMax,
				strconv.FormatInt(a.Memory, 10), strconv.FormatInt(l.Arm.Memory, 10))
			t.Gives = memory(a.Memory - l.Arm.Memory)
			return t, a.Memory > 0 && (l.Memory == 0 || uint64(a.Memory) < l.Memory)
		},
	}
}
