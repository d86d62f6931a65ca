package plan

import (
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/host/isolation"
)

// share finds, for each arm, an earlier one whose processes it can be measured
// on: the two differ in nothing but in what can be changed while those live.
func share(arms []Arm) {
	for i := range arms {
		for j := range arms[:i] {
			if arms[j].Shares == "" && together(members(arms[:i], arms[j].Name), arms[i]) {
				arms[i].Shares = arms[j].Name
				break
			}
		}
	}
}

// members are the arms on the processes of one.
func members(arms []Arm, leader string) []Arm {
	var all []Arm
	for _, a := range arms {
		if a.Name == leader || a.Shares == leader {
			all = append(all, a)
		}
	}
	return all
}

func together(site []Arm, a Arm) bool {
	for _, other := range site {
		if other.Environment != a.Environment || other.Volume != a.Volume || other.Container != a.Container || other.Limits != a.Limits || !maps.Equal(other.Set, a.Set) || !live(other) || !live(a) {
			return false
		}
		if other.Neighbour == nil || a.Neighbour == nil {
			continue
		}
		if other.Neighbour.Name != a.Neighbour.Name || !a.grouped && ownCPU(other) != ownCPU(a) {
			return false
		}
	}
	return true
}

func live(a Arm) bool {
	return !slices.ContainsFunc(a.Isolation, func(s isolation.Settings) bool { return !s.Live })
}

// ownCPU says whether the isolation needs a cpu group of the neighbour's own,
// which a neighbour of an arm without one does not have.
func ownCPU(a Arm) bool {
	return slices.Contains(isolation.Needs(a.Isolation, isolation.Neighbour), "cpu")
}
