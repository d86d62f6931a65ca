package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Across makes an arm for each volume: a copy of the first workload's baseline, on that volume. It
// replaces the arms, and the first is the new baseline. The arms of an experiment that compares volumes
// of pods stay, with their baseline. names[i] is the name of the arm on volumes[i]; where is the flag that
// the errors name.
func (e *Experiment) Across(where string, names, volumes []string, words Words) error {
	adds := e.ComparesVolumesOfPods(words)
	if err := e.checkAcross(where, names, volumes, adds, words); err != nil || len(e.Workloads) == 0 {
		return err
	}
	base := e.baselineArm(&e.Workloads[0])
	if !words.isPod(base.Environment) && slices.ContainsFunc(volumes, words.ofPod) && len(words.Places) > 0 {
		base.Environment = words.Places[0]
	}
	if !adds {
		e.Named, e.Arms, e.Sizes = nil, nil, withoutArms(e.Sizes)
		for i := range e.Workloads {
			w := &e.Workloads[i]
			w.Arms, w.Named, w.Baseline = nil, nil, names[0]
		}
	}
	for i, v := range volumes {
		a := base
		a.Name, a.Volume = names[i], v
		e.Named = append(e.Named, a)
	}
	return nil
}

// checkAcross returns the problems of the volumes: unknown, or the same twice.
func (e *Experiment) checkAcross(where string, names, volumes []string, adds bool, words Words) error {
	s := &sink{where: where}
	var have []string
	if adds {
		have = armNamesOf(e.Named)
	}
	if i := slices.IndexFunc(e.Named, func(a ArmSpec) bool { return a.Neighbour != "" }); i >= 0 && !adds {
		s.list = append(s.list, Problem{Where: where, Text: fmt.Sprintf("several volumes would replace the arms, and with them the neighbour %s; give one, or write the arms in a file (tare presets show NAME > FILE)", e.Named[i].Neighbour)})
	}
	for i, v := range volumes {
		if err := words.volume(v); err != nil {
			s.list = append(s.list, Problem{Where: where, Text: err.Error()})
		} else if slices.Index(names, names[i]) < i || slices.Contains(have, names[i]) {
			s.list = append(s.list, Problem{Where: where, Text: fmt.Sprintf("%s is given twice (arm %s)", v, names[i])})
		}
	}
	return s.err()
}

// ComparesVolumesOfPods says that every arm of the experiment is a pod on a volume that it names.
func (e *Experiment) ComparesVolumesOfPods(words Words) bool {
	other := func(a ArmSpec) bool { return !words.isPod(a.Environment) || !words.ofPod(a.Volume) }
	own := func(w Workload) bool { return len(w.Named) > 0 }
	return len(e.Named) > 0 && !slices.ContainsFunc(e.Named, other) && !slices.ContainsFunc(e.Workloads, own)
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
