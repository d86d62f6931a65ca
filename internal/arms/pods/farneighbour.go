package pods

import (
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
)

// bounds are those of a neighbour: tare's own, for a pod of the class BestEffort may
// have none; nil for an arm. A limit of the pod that is lower stays.
func (a *far) bounds() *agent.Bounds {
	if a.Spec.Neighbour == nil {
		return nil
	}
	return &agent.Bounds{
		Memory: a.Spec.Neighbour.Limits.Memory, Pids: a.Spec.Neighbour.Limits.Pids, CPU: uint64(a.Spec.Neighbour.Time / time.Second),
	}
}

// paused says how what runs in the pod is paused.
func (a *far) paused() string {
	if a.Spec.Neighbour != nil {
		return "not on the node: it is controlled over a stream, and paused by SIGSTOP; its bounds are looked at ten times a second"
	}
	return "not on the node: the load is controlled over a stream, and paused by its gate; a server runs on, idle"
}
