package remedy

import (
	"strconv"

	"github.com/tarelab/tare/record"
)

// The requests of a Burstable pod in tare's words: environment burstable:cpu=100m,memory=256Mi.
const (
	requestCPU    = "0.1"
	requestMemory = 256 << 20
)

func podRequests() Remedy {
	return Remedy{
		Name: "pod-requests", Does: "the pod requests CPU time and memory: class Burstable",
		For:   []record.LossCause{record.LossPod, record.LossNeighbourCPU, record.LossNeighbourCaches, record.LossNeighbourMemory},
		Gives: record.Say("gives_requests"), Part: 0.8, Sets: "pod class",
		On: func(l Lost) (Trial, bool) {
			name, levels := l.levels()
			a := l.arm()
			a.Environment = joinLevels("burstable", levels, "cpu=100m", "memory=256Mi")
			return Trial{Arm: a, Gives: record.Say("gives_cpus_memory", "cpus", 0.1, "memory", requestMemory), Apply: []record.RemedySetting{
				setting(record.OnLoad, record.KeyPodClass, "burstable"), setting(record.OnLoad, record.KeyPodCPURequest, requestCPU),
				setting(record.OnLoad, record.KeyPodMemoryRequest, strconv.Itoa(requestMemory)),
			}, Undo: []record.RemedySetting{
				setting(record.OnLoad, record.KeyPodMemoryRequest, ""), setting(record.OnLoad, record.KeyPodCPURequest, ""),
				setting(record.OnLoad, record.KeyPodClass, name),
			}}, l.Can.Pod && name == "besteffort"
		},
	}
}
