package experiment

import (
	"slices"
	"strings"
)

// Unprotected removes the arms that are protected from their neighbour, but no baseline, and the sizes,
// which may name them. It returns their names by workload.
func (e *Experiment) Unprotected() (removed map[string][]string) {
	before, removed := e.Named, map[string][]string{}
	keep := func(arms []ArmSpec, baselines ...string) []ArmSpec {
		return slices.DeleteFunc(cloneArms(arms), func(a ArmSpec) bool { return a.isolated() && !slices.Contains(baselines, a.Name) })
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		for _, a := range e.ArmsOf(w) {
			if a.isolated() && a.Name != w.Baseline {
				removed[w.Name] = append(removed[w.Name], a.Name)
			}
		}
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
	return removed
}

// Alone says whether the baseline is the only arm of a workload, and is not judged by an objective.
func (e *Experiment) Alone(workload string) bool {
	w := e.Workload(workload)
	if w == nil {
		return false
	}
	names := armNamesOf(e.ArmsOf(w))
	if len(names) == 0 {
		if names = w.Arms; len(names) == 0 {
			names = e.Arms
		}
		if len(names) == 0 {
			return false // all environments
		}
	}
	return w.Objective == Objective{} && !slices.ContainsFunc(names, func(name string) bool { return name != w.Baseline })
}

// ChooseArms is Apply of the key arms for all workloads, also for those that choose or name arms themselves. value
// is a list of names with commas.
func (e *Experiment) ChooseArms(where, value string, words Words) error {
	next := e.clone()
	var others []string // names that no workload has by itself
	names := strings.Split(value, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.ContainsFunc(next.Workloads, func(w Workload) bool { return slices.Contains(armNamesOf(w.Named), names[i]) }) {
			others = append(others, names[i])
		}
	}
	for i := range next.Workloads {
		w := &next.Workloads[i]
		switch {
		case value == allWord:
		case len(w.Named) > 0:
			w.Named = slices.DeleteFunc(w.Named, func(a ArmSpec) bool { return !slices.Contains(names, a.Name) && a.Name != w.Baseline })
		case len(others) == 0:
			w.Arms = []string{w.Baseline}
		case len(next.Named) == 0:
			w.Arms = nil
		}
	}
	if len(others) > 0 {
		if err := next.Apply(where, "arms", strings.Join(others, ","), words); err != nil {
			return err
		}
	}
	*e = *next
	return nil
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
