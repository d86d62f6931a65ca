package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// This file makes the arms that an experiment defines under a name: combinations of environment,
// neighbour, isolation, volume and parameters. ladder.go makes the arms of the other experiments.

// impossible is the error of an arm that this host does not support, with reason and remedy. It wraps
// facts.ErrUnsupported.
type impossible struct{ facts.Support }

func (i impossible) Error() string { return said.English(i.Reason) }

func (i impossible) Unwrap() error { return facts.ErrUnsupported }

// builder makes the named arms of one workload.
type builder struct {
	e    *experiment.Experiment
	w    experiment.Workload
	kind workload.Workload // description of w.Kind
	c    Catalog
	host facts.Host
}

// arms returns the baseline, its twin and the other arms that the host supports. left has each other arm
// with the reason.
func (b builder) arms() ([]PlannedArm, []record.Left, error) {
	var arms []PlannedArm
	var left []record.Left
	asked := b.w.Baseline
	b.w.Baseline = b.baseline()
	for _, spec := range b.e.ArmsOf(&b.w) {
		a, err := b.arm(spec)
		var not impossible
		switch {
		case err == nil && spec.Name == b.w.Baseline:
			arms = slices.Insert(arms, 0, a)
		case err == nil:
			arms = append(arms, a)
		case !errors.As(err, &not):
			return nil, nil, fmt.Errorf("workload %s: arm %s: %w", b.w.Name, spec.Name, err)
		case spec.Name == b.w.Baseline:
			return nil, nil, noBaseline(b.w.Name, spec.Name, not)
		case spec.Name == asked && len(b.w.Arms) > 0 && !slices.Contains(b.w.Arms, asked):
			// The arm is only there as the baseline, and a pod is the baseline instead (see
			// chooseBaseline). The user did not choose the arm, so it is not reported as skipped.
		default:
			left = append(left, record.Left{Workload: b.w.Name, Arm: spec.Name, Reason: not.Reason, Remedy: not.Remedy})
		}
	}
	if len(arms) == 0 || arms[0].Name != b.w.Baseline {
		return nil, nil, fmt.Errorf("workload %s: no arm is called %q", b.w.Name, b.w.Baseline)
	}
	forgetMissing(arms)
	shareProcesses(arms)
	t := twin(arms[0])
	if !slices.ContainsFunc(arms[1:], func(a PlannedArm) bool { return a.Shares != arms[0].Name }) && len(arms) > 1 {
		// All arms use the baseline's processes, so their differences contain no launch effect. The
		// twin's must not either.
		t.Shares = arms[0].Name
	}
	return slices.Insert(arms, 1, t), left, nil
}

// forgetMissing forgets comparisons with arms that are not in the plan.
func forgetMissing(arms []PlannedArm) {
	for i := range arms {
		if !slices.ContainsFunc(arms, func(a PlannedArm) bool { return a.Name == arms[i].Against }) {
			arms[i].Against = ""
		}
	}
}

// baseline returns the name of the arm that the others are compared with.
func (b builder) baseline() string {
	var all []baselineCandidate
	known := false
	for _, a := range b.e.ArmsOf(&b.w) {
		known = known || a.Name == b.w.Baseline
		if r, err := b.rungOf(a); err == nil && a.Neighbour == "" {
			all = append(all, baselineCandidate{a.Name, r})
		}
	}
	if !known {
		return b.w.Baseline
	}
	return chooseBaseline(b.w.Baseline, all, b.host)
}

// arm makes one arm.
func (b builder) arm(spec experiment.ArmSpec) (PlannedArm, error) {
	r, err := b.rungOf(spec)
	if err != nil {
		return PlannedArm{}, err
	}
	if err := requireSupport(rungSupport(r, b.host)); err != nil {
		return PlannedArm{}, err
	}
	on, err := volumeOf(cmp.Or(spec.Volume, b.e.Volume), b.host)
	if err != nil {
		return PlannedArm{}, err
	}
	a := PlannedArm{Env: r.Environment, Volume: on, Arm: record.Arm{
		Name: spec.Name, Environment: spec.Environment, Neighbour: spec.Neighbour, Isolation: spec.Isolation, Options: spec.Options,
		Set: spec.Set, Against: spec.Against, Pod: r.Capabilities().Pod, RunsAs: runsAs(r, b.host),
	}}
	a.Container = environment.Container{
		Network: spec.Network, Seccomp: spec.Seccomp, Capabilities: spec.Capabilities, AppArmor: spec.AppArmor, Image: spec.Image,
	}
	if a.Stages, err = stagesOf(b.kind, b.w.Params, spec.Set); err != nil {
		return PlannedArm{}, err
	}
	if err := checkContainer(a, r); err != nil {
		return PlannedArm{}, err
	}
	if a.Limits, err = limitsOf(spec, r, b.host); err != nil {
		return PlannedArm{}, err
	}
	if spec.Neighbour != "" {
		if a.Neighbour, err = b.neighbour(spec.Neighbour); err != nil {
			return PlannedArm{}, err
		}
	}
	a.Isolation, err = b.isolation(spec, r)
	a.Title = titleOf(a)
	return a, err
}

// rungOf finds the environment of an arm on its volume.
func (b builder) rungOf(spec experiment.ArmSpec) (Rung, error) {
	r, err := b.c.Rung(spec.Environment)
	if err != nil {
		return r, err
	}
	_, levels, _ := strings.Cut(spec.Environment, ":")
	return r.onVolume(levels, cmp.Or(spec.Volume, b.e.Volume))
}

// Rung finds an environment by its word: a name, and after a colon its options.
func (c Catalog) Rung(word string) (Rung, error) {
	name, options, has := strings.Cut(word, ":")
	i := slices.IndexFunc(c.Rungs, func(r Rung) bool { return r.Name() == name })
	if i < 0 {
		return Rung{}, fmt.Errorf("no environment is called %q", name)
	}
	r := c.Rungs[i]
	if !has {
		return r, nil
	}
	with := r.Capabilities().With
	if with == nil {
		return Rung{}, errors.New("it has no levels")
	}
	var err error
	r.Environment, err = with(options)
	return r, err
}

// requireSupport returns nil if s says yes, else an impossible error with its reason.
func requireSupport(s facts.Support) error {
	if s.Answer == facts.Yes {
		return nil
	}
	return impossible{s}
}

// checkContainer returns an error if the arm's environment cannot have the network, seccomp profile,
// capabilities, AppArmor profile or image that the experiment chose.
func checkContainer(a PlannedArm, r Rung) error {
	can, onlyImage := r.Capabilities(), environment.Container{Image: a.Container.Image}
	if err := requireSupport(containerSupport(r, a.Container, a.Stages)); err != nil {
		return err
	}
	switch {
	case can.Archive && a.Container.Image == "":
		return needsImage(r)
	case a.Container == environment.Container{}, can.Archive && a.Container == onlyImage:
		return nil
	case !can.Container:
		return hint.New(fmt.Errorf("%s makes no container whose network, seccomp, capabilities or profile could be chosen", r.Name()),
			"environment: container, runc, crun, podman or docker")
	case a.Container.Network == environment.NetworkEngine && !can.Networks:
		return hint.New(fmt.Errorf("network %s: %s is made without an engine", environment.NetworkEngine, r.Name()),
			"environment: docker or podman")
	case a.Container.Image != "" && !can.Images:
		return hint.New(fmt.Errorf("%s has no images", r.Name()), "environment: podman or docker")
	case a.Container.Image != "" && !a.Volume.Binds():
		return hint.New(errors.New("volume layer: the layer of an image is the engine's, which tare cannot fill with data"),
			"volume: bind, for all arms that are compared")
	case a.Container.Network != "" && a.Stages.Server == nil:
		return hint.New(errors.New("network: the workload has no server that would be reached over one"), "leave network out")
	}
	return nil
}

// needsImage is the error of an environment that gets its programs from an image, and has none.
func needsImage(r Rung) error {
	return hint.New(fmt.Errorf("%s needs an image", r.Name()), "image: FILE, an archive of docker save")
}

// containerSupport says whether an environment supports the container settings that were chosen. Without
// a chosen network, clients reach a server at a published port.
func containerSupport(r Rung, c environment.Container, s workload.Stages) facts.Support {
	refuses := r.Capabilities().Refuses
	if refuses == nil {
		return facts.Supported()
	}
	if s.Server != nil {
		c.Network = cmp.Or(c.Network, environment.NetworkPublished)
	}
	if err := refuses(c); err != nil {
		return facts.Refused(err)
	}
	return facts.Supported()
}

// volumeOf returns the volume of a word, the zero volume for an empty word. A volume that this host does
// not support is an impossible error.
func volumeOf(word string, host facts.Host) (volume.Volume, error) {
	if word == "" {
		return volume.Volume{}, nil
	}
	v, err := volume.Parse(word)
	if err != nil {
		return v, err
	}
	if !v.Opens() {
		return v, nil
	}
	s, ok := host.Volumes[word]
	if !ok {
		s = facts.Unsupported(record.Say("host_not_asked"), record.Said{})
	}
	return v, requireSupport(s)
}

// stagesOf returns the stages of a kind of load. Parameters in set replace those in params.
func stagesOf(kind workload.Workload, params, set map[string]string) (workload.Stages, error) {
	all := maps.Clone(params)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, set)
	values, err := workload.Complete(kind, all)
	if err != nil {
		return workload.Stages{}, err
	}
	return kind.Stages(values)
}

// neighbour makes the neighbour with this name. The host must support cgroup limits for it, and have its
// tools.
func (b builder) neighbour(name string) (*Neighbour, error) {
	spec := b.e.Neighbour(name)
	if spec == nil {
		return nil, fmt.Errorf("no neighbour is called %q", name)
	}
	kind, ok := b.c.Neighbour(spec.Kind)
	if !ok {
		return nil, fmt.Errorf("neighbour %s: no kind %q", name, spec.Kind)
	}
	stages, err := stagesOf(kind, spec.Params, nil)
	if err != nil {
		return nil, fmt.Errorf("neighbour %s: %w", name, err)
	}
	env, err := b.neighbourEnvironment(spec.Environment)
	if err != nil {
		return nil, fmt.Errorf("neighbour %s: %w", name, err)
	}
	if err := b.requireLimits(name, env); err != nil {
		return nil, err
	}
	for _, t := range stages.Tools {
		if b.host.PodNode == "" && b.host.Tools[t.Name].Path == "" {
			return nil, impossible{facts.Unsupported(record.Say("needs_tool", "neighbour", name, "tool", t.Name), facts.Command("apt-get install "+t.Package))}
		}
	}
	values, err := workload.Complete(kind, spec.Params)
	if err != nil {
		return nil, fmt.Errorf("neighbour %s: %w", name, err)
	}
	n := &Neighbour{Stages: stages, Env: env, Neighbour: record.Neighbour{
		Name: name, Title: kind.Title(), Kind: spec.Kind, Params: values,
		Work: record.NeighbourOps, Unit: "1/s", Memory: uint64(spec.Memory), Pids: uint64(spec.Pids),
	}}
	if env != b.c.Beside {
		n.Environment = spec.Environment
	}
	if stages.Work.Name != "" {
		n.Work, n.Unit = stages.Work.Name, stages.Work.Unit
	}
	return n, nil
}

// neighbourEnvironment returns the environment in which a neighbour runs: the host or a pod.
func (b builder) neighbourEnvironment(word string) (environment.Environment, error) {
	if word == "" || word == experiment.Baseline {
		return b.c.Beside, nil
	}
	r, err := b.c.Rung(word)
	if err != nil {
		return nil, err
	}
	if !r.Capabilities().Pod {
		return nil, hint.New(fmt.Errorf("a neighbour cannot be in %s", r.Name()), "environment: host, or a pod: besteffort, burstable or guaranteed")
	}
	return r.Environment, requireSupport(r.Support(b.host))
}

// requireLimits returns nil if the neighbour's memory and processes can be limited and paused, else an
// impossible error. In a pod on another node the agent in the pod does that.
func (b builder) requireLimits(name string, env environment.Environment) error {
	h := b.host
	switch {
	case h.PodNode == "":
	case env == b.c.Beside:
		return impossible{needsNode(record.Say("neighbour_on_host", "neighbour", name), h)}
	default:
		return nil
	}
	if s := h.GroupsCan("memory", "pids"); s.Answer != facts.Yes {
		return impossible{facts.Unsupported(record.Say("needs_limits", "neighbour", name, "why", s.Reason), s.Remedy)}
	}
	return nil
}

// isolation returns the settings of the mechanisms that protect the arm from its neighbour.
func (b builder) isolation(spec experiment.ArmSpec, r Rung) ([]isolation.Settings, error) {
	var all []isolation.Settings
	for _, text := range spec.Isolation {
		m, level, err := isolation.Parse(text)
		if err != nil {
			return nil, err
		}
		if err := requireSupport(m.Support(b.host)); err != nil {
			return nil, err
		}
		s, err := m.Settings(level, b.host)
		if err != nil {
			return nil, err
		}
		if len(s.Arm) > 0 && !r.Capabilities().Grouped {
			return nil, impossible{facts.Unsupported(needsOwnGroup(text, r.Name(), s.Arm), record.Say("in_cgroup"))}
		}
		all = append(all, s)
	}
	return all, nil
}

// mechanismTitles returns the titles of the mechanisms of isolation.
func mechanismTitles(words []string) (titles []record.Said) {
	for _, text := range words {
		if m, _, err := isolation.Parse(text); err == nil {
			titles = append(titles, m.Describe().Title)
		}
	}
	return titles
}
