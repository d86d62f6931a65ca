package remedy

import "github.com/tarelab/tare/record"

func cpuManager() Remedy {
	return Remedy{
		Name: "cpu-manager", Does: "the kubelet gives Guaranteed pods CPUs of their own",
		For:   []record.LossCause{record.LossPod, record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_cpus_of_pods"), Needs: "a kubelet with the policy static", Part: 0.5, Sets: "cpu manager",
		On: func(l Lost) (Trial, bool) {
			name, _ := l.levels()
			return Trial{
				Apply: one(record.OnLoad, record.KeyCPUManager, "static"), Undo: one(record.OnLoad, record.KeyCPUManager, "none"),
				Not: &record.Left{Reason: record.Say("policy_of_node"), Remedy: record.Say("set_policy_there")},
			}, l.Can.Pod && name == "guaranteed"
		},
	}
}
