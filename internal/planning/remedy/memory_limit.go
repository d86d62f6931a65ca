package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// memory is an amount of memory that is given up; zero: none is.
func memory(bytes int64) record.Said {
	if bytes <= 0 {
		return record.Said{}
	}
	return record.Say("gives_bytes", "bytes", bytes)
}

func memoryLimit() Remedy {
	return Remedy{
		Name: "memory-doubled", Does: "the memory limit is twice as large",
		For:   []record.LossCause{record.LossMemoryLimit},
		Gives: record.Say("gives_memory"), Part: 0.8, Sets: "memory limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.MemoryBytes *= 2
			t := change(a, record.OnLoad, record.KeyMemoryMax,
				strconv.FormatInt(a.MemoryBytes, 10), strconv.FormatInt(l.Arm.MemoryBytes, 10))
			t.Gives = memory(a.MemoryBytes - l.Arm.MemoryBytes)
			return t, a.MemoryBytes > 0 && (l.Memory == 0 || uint64(a.MemoryBytes) < l.Memory)
		},
	}
}
