package pods

import (
	"fmt"
)

// bound bounds a neighbour in a pod by tare's own limits, on the group of its
// container: a pod of the class BestEffort may have none, and what is meant to
// disturb must not take the node with it. A limit of the pod that is lower stays.
// The group is gone with the pod, and so are these.
func (a *arm) bound() error {
	if a.Spec.Neighbour == nil {
		return nil
	}
	limits := a.Spec.Neighbour.Limits
	if own := uint64(a.asks.limits.Memory); own > 0 {
		limits.Memory = min(limits.Memory, own)
	}
	g := a.Group
	g.Controllers = []string{"memory", "pids"}
	if _, err := g.Apply(limits); err != nil {
		return fmt.Errorf("limit the neighbour: %w", err)
	}
	return nil
}
