package remedy

import "github.com/tarelab/tare/record"

func schedIdle() Remedy {
	return Remedy{
		Name: "sched-idle", Does: "the neighbour's threads have the policy SCHED_IDLE",
		For:   []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourCaches},
		Gives: record.Say("gives_neighbour_turn"), Part: 0.8, Sets: "sched policy",
		On: func(l Lost) (Trial, bool) {
			t, ok := l.beside("sched.idle", record.KeySched, "idle", "")
			return t, ok && !l.Can.Grouped && !l.Service // between two groups the weights of the groups decide
		},
	}
}
