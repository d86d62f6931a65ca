package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// used is the part of a limit from which a load leaves nothing to save up.
const used = 0.9

func limitBurst() Remedy {
	return Remedy{
		Name: "limit-burst", Does: "the load keeps its CPU limit, and may use as much again of what it left before",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: record.Say("gives_cpu_for_a_moment"), Needs: "Linux 5.14", Part: 0.9, Sets: "cpu burst",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Burst = a.CPUs
			was := "0"
			if l.Arm.Burst > 0 {
				was = strconv.FormatFloat(l.Arm.Burst, 'g', -1, 64)
			}
			t := change(a, record.OnLoad, record.KeyCPUBurst, l.limit(), was)
			t.Gives = record.Say("gives_up_to_for_a_moment", "cpus", a.Burst-l.Arm.Burst)
			return t, a.Burst > l.Arm.Burst && l.Received < used*l.Arm.CPUs
		},
	}
}
