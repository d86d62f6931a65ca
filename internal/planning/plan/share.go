package plan

import (
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/record"
)

// shareProcesses sets Shares of each arm that can be measured on the processes of an earlier arm:
// the two differ, and only in what can be changed while the processes live. An arm that is the same
// as another one has processes of its own: on those of the other one it would be compared with itself.
func shareProcesses(arms []PlannedArm) {
	for i := range arms {
		for j := range arms[:i] {
			if arms[j].Shares == "" && canShare(members(arms[:i], arms[j].Name), arms[i]) {
				arms[i].Shares = arms[j].Name
				break
			}
		}
	}
}

// members returns the arms on the processes of an arm, that arm first.
func members(arms []PlannedArm, leader string) []PlannedArm {
	var all []PlannedArm
	for _, a := range arms {
		if a.Name == leader || a.Shares == leader {
			all = append(all, a)
		}
	}
	return all
}

// canShare says whether an arm can be measured on the processes of an instance.
func canShare(instance []PlannedArm, a PlannedArm) bool {
	for _, other := range instance {
		if other.Environment != a.Environment || other.Volume != a.Volume || other.Container != a.Container || other.Limits != a.Limits || !maps.Equal(other.Set, a.Set) || !isLive(other) || !isLive(a) {
			return false
		}
		if other.Neighbour == nil && a.Neighbour == nil {
			return false
		}
		if other.Neighbour == nil || a.Neighbour == nil {
			continue
		}
		if other.Neighbour.Name != a.Neighbour.Name || sameIsolation(other, a) || !a.grouped() && a.RunsAs != record.AsService && ownCPU(other) != ownCPU(a) {
			return false
		}
	}
	return true
}

// sameIsolation says whether the same mechanisms protect both arms.
func sameIsolation(a, b PlannedArm) bool {
	names := func(a PlannedArm) []string {
		return slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(a.Arm.Isolation), func(name string) bool { return name == "none" })))
	}
	return slices.Equal(names(a), names(b))
}

// ShareAs gives every arm the processes that it has in another plan: those of its own where that one has no such
// arm, so that with an empty plan no difference of two arms lies within one launch.
func (p *Plan) ShareAs(was record.Plan) {
	shares := map[[2]string]string{}
	for _, w := range was.Workloads {
		for _, a := range w.Arms {
			shares[[2]string{w.Name, a.Name}] = a.Shares
		}
	}
	for i := range p.Loads {
		l, r := &p.Loads[i], &p.Record.Workloads[i]
		for k := range l.Arms {
			l.Arms[k].Shares = shares[[2]string{l.Name, l.Arms[k].Name}]
			r.Arms[k].Shares = l.Arms[k].Shares
		}
	}
}

// isLive says whether all of an arm's isolation can be set and taken back while processes live.
func isLive(a PlannedArm) bool {
	return !slices.ContainsFunc(a.Isolation, func(s isolation.Settings) bool { return !s.Live })
}

// ownCPU says whether the isolation needs a cpu controller in the neighbour's control group. The
// neighbour of an arm that is neither a container nor a service has none otherwise.
func ownCPU(a PlannedArm) bool {
	return slices.Contains(isolation.Needs(a.Isolation, isolation.Neighbour), "cpu")
}
