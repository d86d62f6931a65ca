package pods

import (
	"fmt"
)

// limitNeighbour sets limits of memory and processes on the container's group of a neighbour:
// a BestEffort pod has none, and a neighbour must not take the node down. A lower limit of the
// pod stays. The limits end with the group, and the group with the pod.
func (a *arm) limitNeighbour() error {
	if a.Spec.Neighbour == nil {
		return nil
	}
	limits := a.Spec.Neighbour.Limits
	if own := uint64(a.amounts.limits.Memory); own > 0 {
		limits.Memory = min(limits.Memory, own)
	}
	g := a.Group
	g.Controllers = []string{"memory", "pids"}
	if _, err := g.Apply(limits); err != nil {
		return fmt.Errorf("limit the neighbour: %w", err)
	}
	return nil
}
