package plan

import (
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/record"
)

// Site is arms that are measured on the same processes.
type Site struct {
	Arms []Arm // the first gives its name
	// Neighbour runs beside some of them; nil: none.
	Neighbour *Neighbour
	// Controllers that the isolation needs of the neighbour's group.
	Controllers []string
	// Grouped says that it is a container beside a container, else a process beside a
	// process.
	Grouped bool
}

// Sites groups arms by their processes, in their order.
func Sites(arms []Arm) []Site {
	var sites []Site
	at := map[string]int{}
	for _, a := range arms {
		key := a.Name
		if a.Shares != "" {
			key = a.Shares
		}
		i, ok := at[key]
		if !ok {
			i = len(sites)
			at[key] = i
			sites = append(sites, Site{})
		}
		s := &sites[i]
		s.Arms = append(s.Arms, a)
		if a.Neighbour == nil {
			continue
		}
		s.Neighbour = a.Neighbour
		s.Grouped = s.Grouped || a.grouped
		for _, c := range isolation.Needs(a.Isolation, isolation.Neighbour) {
			if !slices.Contains(s.Controllers, c) {
				s.Controllers = append(s.Controllers, c)
			}
		}
	}
	return sites
}

// Environments are those that are open while these sites are.
func Environments(sites []Site) []environment.Environment {
	var all []environment.Environment
	for _, s := range sites {
		all = append(all, s.Arms[0].Env)
		if s.Neighbour != nil {
			all = append(all, s.Neighbour.Env)
		}
	}
	return all
}

// NeighbourArm is what the neighbour of an arm is called, which is an arm of its own;
// none that an experiment names has a dot.
func NeighbourArm(arm string) string { return arm + ".neighbour" }

// neighboursOf are the neighbours that arms have, each once.
func neighboursOf(arms []Arm) []record.Neighbour {
	var all []record.Neighbour
	for _, a := range arms {
		if a.Neighbour != nil && !slices.ContainsFunc(all, func(n record.Neighbour) bool { return n.Name == a.Neighbour.Name }) {
			all = append(all, a.Neighbour.Neighbour)
		}
	}
	return all
}
