package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

func defaultWeight() Remedy {
	return Remedy{
		Name: "default-weight", Does: "the load has the default weight in the division of CPU time",
		For:   []record.LossCause{record.LossOtherWork},
		Gives: record.Say("gives_cpu_of_others"), Part: 0.8, Sets: "cpu share",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			a.Weight = 0
			return change(a, record.OnLoad, record.KeyCPUWeight, "", strconv.Itoa(l.Arm.Weight)), l.Arm.Weight > 0
		},
	}
}
