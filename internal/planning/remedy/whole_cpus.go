package remedy

import (
	"math"
	"strconv"

	"github.com/tarelab/tare/record"
)

func wholeCPUs() Remedy {
	return Remedy{
		Name: "whole-cpus", Does: "the CPU limit is rounded up to whole CPUs",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: "part of a CPU", Part: 0.5, Sets: "cpu limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.CPUs = math.Ceil(l.Arm.CPUs)
			t := change(a, record.OnLoad, record.KeyCPUMax, strconv.Itoa(int(a.CPUs)), l.limit())
			return t, a.CPUs > l.Arm.CPUs && int(a.CPUs) <= len(l.CPUs)
		},
	}
}
