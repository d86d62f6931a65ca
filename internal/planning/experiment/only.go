package experiment

import "slices"

// Unprotected removes the arms that are protected from their neighbour, but no baseline, and the sizes,
// which may name them.
func (e *Experiment) Unprotected() {
	before := e.Named
	keep := func(arms []ArmSpec, baselines ...string) []ArmSpec {
		return slices.DeleteFunc(cloneArms(arms), func(a ArmSpec) bool { return a.isolated() && !slices.Contains(baselines, a.Name) })
	}
	e.Sizes, e.Named = nil, keep(e.Named, e.baselines()...)
	for i := range e.Workloads {
		w := &e.Workloads[i]
		own := armNamesOf(w.Named)
		w.Named = keep(w.Named, w.Baseline)
		left := armNamesOf(w.Named)
		w.Arms = slices.DeleteFunc(slices.Clone(w.Arms), func(name string) bool {
			return slices.Contains(own, name) && !slices.Contains(left, name)
		})
	}
	e.dropRemoved(before)
}

// Only is the experiment with one workload and these arms alone, of which the first is the baseline; no arm
// is compared with another besides. The seed is chosen anew.
func (e *Experiment) Only(workload string, arms ...ArmSpec) *Experiment {
	c := e.clone()
	c.Named, c.Arms, c.Sizes, c.Seed = nil, nil, nil, 0
	c.Workloads = slices.DeleteFunc(c.Workloads, func(w Workload) bool { return w.Name != workload })
	for i := range c.Workloads {
		w := &c.Workloads[i]
		w.Named, w.Arms, w.Baseline, w.Optional, w.Share = cloneArms(arms), nil, arms[0].Name, false, 1
		for k := range w.Named {
			w.Named[k].Against = ""
		}
	}
	c.Neighbours = slices.DeleteFunc(c.Neighbours, func(h Neighbour) bool {
		return !slices.ContainsFunc(arms, func(a ArmSpec) bool { return a.Neighbour == h.Name })
	})
	return c
}
