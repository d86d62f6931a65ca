package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Across replaces the arms by one arm for each volume: a copy of the first workload's
// baseline, on that volume. The first is the new baseline. names[i] is the name of the arm on
// volumes[i]; where is the flag that the errors name.
func (e *Experiment) Across(where string, names, volumes []string, words Words) error {
	s := &sink{where: where}
	for i, v := range volumes {
		if err := words.volume(v); err != nil {
			s.list = append(s.list, Problem{Where: where, Text: err.Error()})
		} else if slices.Index(names, names[i]) < i {
			s.list = append(s.list, Problem{Where: where, Text: fmt.Sprintf("%s is given twice (arm %s)", v, names[i])})
		}
	}
	if err := s.err(); err != nil || len(e.Workloads) == 0 {
		return err
	}
	base := e.baselineArm(&e.Workloads[0])
	e.Named, e.Arms, e.Sizes = nil, nil, withoutArms(e.Sizes)
	for i, v := range volumes {
		a := base
		a.Name, a.Volume = names[i], v
		e.Named = append(e.Named, a)
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		w.Arms, w.Named, w.Baseline = nil, nil, names[0]
	}
	return nil
}

// baselineArm is a workload's baseline as an arm. Without named arms the baseline is the name
// of an environment.
func (e *Experiment) baselineArm(w *Workload) ArmSpec {
	for _, a := range e.namedOf(w) {
		if a.Name == w.Baseline {
			return a
		}
	}
	return ArmSpec{Environment: w.Baseline}
}

// withoutArms drops the sizes that set arms or baselines.
func withoutArms(sizes []Size) []Size {
	return slices.DeleteFunc(slices.Clone(sizes), func(s Size) bool {
		return slices.ContainsFunc(s.Settings, func(x Setting) bool {
			return strings.HasPrefix(x.Path, "arms") || strings.HasSuffix(x.Path, ".arms") || strings.HasSuffix(x.Path, ".baseline")
		})
	})
}
