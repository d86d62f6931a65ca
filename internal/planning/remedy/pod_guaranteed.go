package remedy

import (
	"fmt"
	"strconv"

	"github.com/tarelab/tare/record"
)

// guaranteedMemory is the request of a Guaranteed pod, as of tare's own.
const guaranteedMemory = 2 << 30

func podGuaranteed() Remedy {
	return Remedy{
		Name: "pod-guaranteed", Does: "the pod requests whole CPUs and has them as its limit: class Guaranteed",
		For:   []record.LossCause{record.LossPod, record.LossNeighbourCPU, record.LossNeighbourCaches, record.LossNeighbourMemory},
		Gives: record.Say("gives_cpus_and_limit"), Part: 0.6, Sets: "pod class",
		On: func(l Lost) (Trial, bool) {
			name, levels := l.levels()
			n := len(l.CPUs) - 1 // the node reserves a part of one
			a := l.arm()
			a.Environment = joinLevels("guaranteed", levels, fmt.Sprintf("cpu=%d", n), "memory=2Gi")
			return Trial{
				Arm: a, Apply: guaranteed("guaranteed", strconv.Itoa(n), strconv.Itoa(guaranteedMemory)), Undo: reversed(guaranteed(name, "", "")),
				Gives: record.Say("gives_cpus_memory_and_limit", "cpus", n, "memory", guaranteedMemory),
			}, l.Can.Pod && name != "guaranteed" && n > 0
		},
	}
}

// guaranteed are the settings of a pod whose limits are its requests.
func guaranteed(class, cpus, memory string) []record.RemedySetting {
	return []record.RemedySetting{
		setting(record.OnLoad, record.KeyPodClass, class),
		setting(record.OnLoad, record.KeyPodCPURequest, cpus), setting(record.OnLoad, record.KeyPodCPULimit, cpus),
		setting(record.OnLoad, record.KeyPodMemoryRequest, memory), setting(record.OnLoad, record.KeyPodMemoryLimit, memory),
	}
}
