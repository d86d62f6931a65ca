package plan

import (
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/record"
)

// Instance is a group of arms that are measured on the same processes.
type Instance struct {
	Arms []PlannedArm // the first arm gives the instance its name
	// Neighbour runs beside some of the arms; nil: beside none.
	Neighbour *Neighbour
	// Controllers lists what the arms' isolation needs of the neighbour's control group.
	Controllers []string
	// Grouped says that the neighbour runs beside arms with control groups of their own, and gets
	// the same controllers.
	Grouped bool
	// Service says that the neighbour runs beside arms that run as services of the host, and gets
	// the controllers of one.
	Service bool
}

// Instances groups arms by their processes (Arm.Shares), in the order of the arms.
func Instances(arms []PlannedArm) []Instance {
	var instances []Instance
	at := map[string]int{}
	for _, a := range arms {
		key := a.Name
		if a.Shares != "" {
			key = a.Shares
		}
		i, ok := at[key]
		if !ok {
			i = len(instances)
			at[key] = i
			instances = append(instances, Instance{})
		}
		s := &instances[i]
		s.Arms = append(s.Arms, a)
		if a.Neighbour == nil {
			continue
		}
		s.Neighbour = a.Neighbour
		s.Grouped = s.Grouped || a.grouped()
		s.Service = s.Service || a.RunsAs == record.AsService
		for _, c := range isolation.Needs(a.Isolation, isolation.Neighbour) {
			if !slices.Contains(s.Controllers, c) {
				s.Controllers = append(s.Controllers, c)
			}
		}
	}
	return instances
}

// Environments lists the environments that are open while these instances are, neighbours' too.
func Environments(instances []Instance) []environment.Environment {
	var all []environment.Environment
	for _, s := range instances {
		all = append(all, s.Arms[0].Env)
		if s.Neighbour != nil {
			all = append(all, s.Neighbour.Env)
		}
	}
	return all
}

// NeighbourArm returns the name of the arm in which an arm's neighbour runs. An experiment cannot
// give that name to an arm: it has a dot.
func NeighbourArm(arm string) string { return arm + ".neighbour" }

// neighboursOf lists each neighbour of the arms once.
func neighboursOf(arms []PlannedArm) []record.Neighbour {
	var all []record.Neighbour
	for _, a := range arms {
		if a.Neighbour != nil && !slices.ContainsFunc(all, func(n record.Neighbour) bool { return n.Name == a.Neighbour.Name }) {
			all = append(all, a.Neighbour.Neighbour)
		}
	}
	return all
}
