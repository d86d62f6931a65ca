package remedy

import (
	"math"

	"github.com/tarelab/tare/record"
	"k8s.io/utils/cpuset"
)

func pinned() Remedy {
	return Remedy{
		Name: "pinned", Does: "the load has as many CPUs of its own as the limit allows, instead of the limit",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: record.Say("gives_other_cpus"), Part: 0.45, Sets: "cpu limit",
		On: func(l Lost) (Trial, bool) {
			a := l.arm()
			n := int(math.Ceil(l.Arm.CPUs))
			if n == 0 || n > len(l.CPUs) || a.CPUSet != "" {
				return Trial{}, false
			}
			a.CPUs, a.CPUSet = 0, cpuset.New(l.CPUs[:n]...).String()
			gives := record.Said{}
			if n < len(l.CPUs) {
				gives = record.Say("gives_other_n_cpus", "cpus", len(l.CPUs)-n)
			}
			return Trial{
				Arm: a, Gives: gives,
				Apply: []record.RemedySetting{setting(record.OnLoad, record.KeyCPUSet, a.CPUSet), setting(record.OnLoad, record.KeyCPUMax, "")},
				Undo:  []record.RemedySetting{setting(record.OnLoad, record.KeyCPUMax, l.limit()), setting(record.OnLoad, record.KeyCPUSet, "")},
			}, true
		},
	}
}
