package pods

import (
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
)

// bounds are the limits of a neighbour, which its agent keeps because a BestEffort pod has
// none; nil if the arm is no neighbour. A lower limit of the pod stays in force.
func (a *remoteArm) bounds() *agent.Bounds {
	if a.Spec.Neighbour == nil {
		return nil
	}
	return &agent.Bounds{
		Memory: a.Spec.Neighbour.Limits.Memory, Pids: a.Spec.Neighbour.Limits.Pids, CPU: uint64(a.Spec.Neighbour.Time / time.Second),
	}
}

// paused says how the processes of the pod are paused, for people.
func (a *remoteArm) paused() string {
	if a.Spec.Neighbour != nil {
		return "not on the node: it is controlled over a stream, and paused by SIGSTOP; its limits are checked ten times a second"
	}
	return "not on the node: the load is controlled over a stream, and paused by its gate; a server runs on, idle"
}
