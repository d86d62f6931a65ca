package isolation

import (
	"strconv"

	"github.com/tarelab/tare/internal/host/facts"
)

// qosLevel is openEuler's cpu.qos_level, of version 1 alone: a group at -1 runs
// only where no group at 0 wants to. Its tasks must not move back online, so it
// needs a launch of its own (openEuler issue I3ZX4D; Huawei Cloud EulerOS has
// five levels, -2 to 2).
type qosLevel struct{}

func (qosLevel) Describe() Description {
	return Description{Name: "cpu.qos_level", Title: "offline, as openEuler calls it: gives way to every group that is online",
		Level: Level{Default: "-1", Help: "-1, or -2 where the kernel has five levels", Check: check(qos)}}
}

func qos(s string) (int, error) { return whole(s, -2, -1) }

func (qosLevel) Support(h facts.Host) facts.Support {
	return can(h, "a kernel of openEuler with control groups of version 1; cpu.idle does the same on others", "cpu", "cpu.qos_level")
}

func (qosLevel) Settings(level string, _ facts.Host) (Settings, error) {
	n, err := qos(level)
	if err != nil {
		return Settings{}, err
	}
	return Settings{
		Neighbour: []string{"cpu"},
		Files:     []File{{Controller: "cpu", Name: "cpu.qos_level", Write: strconv.Itoa(n)}},
	}, nil
}
