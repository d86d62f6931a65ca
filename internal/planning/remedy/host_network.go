package remedy

import (
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/record"
)

func hostNetwork() Remedy {
	return Remedy{
		Name: "host-network", Does: "the server uses the network of the host",
		For:   []record.LossCause{record.LossVeth, record.LossNAT, record.LossPod},
		Gives: record.Say("gives_network"), Part: 0.9, Sets: "network",
		On: func(l Lost) (Trial, bool) {
			a, ok := l.reachedBy(environment.NetworkHost)
			return change(a, record.OnLoad, record.KeyNetwork, "host", l.Arm.Network), ok
		},
	}
}

// levels are the name of the arm's environment, and its levels.
func (l Lost) levels() (name, levels string) {
	name, levels, _ = strings.Cut(l.Arm.Environment, ":")
	return name, levels
}
