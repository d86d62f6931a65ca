package isolation

import (
	"strconv"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// QoSLevel is the name of the mechanism and of its file.
const QoSLevel = "cpu.qos_level"

// qosLevel is the file cpu.qos_level of openEuler's kernel, in version 1 only: a group at -1
// runs only while no group at 0 wants to. Tasks must not move from -1 back to 0 (openEuler
// issue I3ZX4D), so the mechanism needs a launch of its own. Huawei Cloud EulerOS has five
// levels, -2 to 2.
type qosLevel struct{}

func (qosLevel) Describe() description {
	return description{Name: QoSLevel, Title: record.Say("isolation_qos"),
		Level: level{Default: "-1", Check: check(qos)}}
}

func qos(s string) (int, error) { return whole(s, -2, -1) }

func (qosLevel) Support(h facts.Host) facts.Support {
	return can(h, kernelWithQoS, "cpu", QoSLevel)
}

func (qosLevel) Settings(level string, _ facts.Host) (Settings, error) {
	n, err := qos(level)
	if err != nil {
		return Settings{}, err
	}
	return Settings{
		Neighbour: []string{"cpu"},
		Files:     []File{{Controller: "cpu", Name: QoSLevel, Write: strconv.Itoa(n)}},
	}, nil
}
