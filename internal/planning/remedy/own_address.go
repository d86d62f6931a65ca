package remedy

import (
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

func ownAddress() Remedy {
	return Remedy{
		Name: "own-address", Does: "clients use the address of the container, without a published port",
		For:   []record.LossCause{record.LossNAT},
		Gives: record.Say("gives_port"), Part: 0.8, Sets: "network",
		On: func(l Lost) (Trial, bool) {
			a, ok := l.reachedBy(environment.NetworkBridge)
			return change(a, record.OnLoad, record.KeyNetwork, "bridge", l.Arm.Network), ok && !l.Can.Pod
		},
	}
}

// reachedBy is the arm with another network; false: its server has that network, or none can be chosen.
func (l Lost) reachedBy(network string) (experiment.ArmSpec, bool) {
	a := l.arm()
	switch name, levels := l.levels(); {
	case !l.Server || l.Arm.Network == network || l.Params["connect"] == "socket":
		return a, false
	case l.Can.Pod:
		var ok bool
		a.Environment, ok = withLevel(name, levels, "network", network)
		return a, ok
	}
	a.Network = network
	return a, l.Can.Container
}
