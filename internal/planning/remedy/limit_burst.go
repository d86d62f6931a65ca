package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

func limitBurst() Remedy {
	return Remedy{
		Name: "limit-burst", Does: "the load keeps its CPU limit, and may use as much again of what it left before",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: "CPU time of others for a moment", Needs: "Linux 5.14", Part: 0.4, Sets: "cpu burst",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Burst = a.CPUs
			was := "0"
			if l.Arm.Burst > 0 {
				was = strconv.FormatFloat(l.Arm.Burst, 'g', -1, 64)
			}
			return change(a, record.OnLoad, record.KeyCPUBurst, l.limit(), was), a.Burst > l.Arm.Burst
		},
	}
}
