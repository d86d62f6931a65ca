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
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Arms that the experiment names: combinations of environment, neighbour,
// isolation, volume and parameters.

// impossible is why this host cannot have an arm; errors.Is ErrUnsupported.
type impossible struct{ facts.Support }

func (i impossible) Error() string { return i.Reason }

func (i impossible) Unwrap() error { return facts.ErrUnsupported }

// builder makes the named arms of one workload.
type builder struct {
	e    *experiment.Experiment
	w    experiment.Workload
	kind workload.Workload
	c    Catalog
	host facts.Host
}

// arms makes those that the host can have, the baseline first.
func (b builder) arms() ([]Arm, []record.Left, error) {
	var arms []Arm
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
			return nil, nil, hint.New(fmt.Errorf("workload %s: the baseline %s is not possible here: %w", b.w.Name, spec.Name, err), not.Remedy)
		case spec.Name == asked && len(b.w.Arms) > 0 && !slices.Contains(b.w.Arms, asked):
			// It stands in the experiment as the baseline, which is another one here, and those
			// who named the arms did not name it.
		default:
			left = append(left, record.Left{Workload: b.w.Name, Arm: spec.Name, Reason: not.Reason, Remedy: not.Remedy})
		}
	}
	if len(arms) == 0 || arms[0].Name != b.w.Baseline {
		return nil, nil, fmt.Errorf("workload %s: no arm is called %q", b.w.Name, b.w.Baseline)
	}
	share(arms)
	t := twin(arms[0])
	if !slices.ContainsFunc(arms[1:], func(a Arm) bool { return a.Shares != arms[0].Name }) && len(arms) > 1 {
		t.Shares = arms[0].Name // no comparison has a launch in it, so this one has none either
	}
	return slices.Insert(arms, 1, t), left, nil
}

// baseline is the arm that the others are compared with: the one that was asked
// for, or, where that would be on this host and the pods are not, the first pod that
// can be had; where none can, the first one says why.
func (b builder) baseline() string {
	all := b.e.ArmsOf(&b.w)
	asked := slices.IndexFunc(all, func(a experiment.Arm) bool { return a.Name == b.w.Baseline })
	pod := func(a experiment.Arm) bool {
		r, err := b.rung(a.Environment)
		return err == nil && r.Pod && a.Neighbour == ""
	}
	possible := func(a experiment.Arm) bool {
		r, _ := b.rung(a.Environment)
		return pod(a) && r.Support(b.host).Answer == facts.Yes
	}
	if b.host.PodNode == "" || asked < 0 || pod(all[asked]) {
		return b.w.Baseline
	}
	for _, want := range []func(experiment.Arm) bool{possible, pod} {
		if i := slices.IndexFunc(all, want); i >= 0 {
			return all[i].Name
		}
	}
	return b.w.Baseline
}

func (b builder) arm(spec experiment.Arm) (Arm, error) {
	r, err := b.rung(spec.Environment)
	if err != nil {
		return Arm{}, err
	}
	if err := possible(support(r, b.host)); err != nil {
		return Arm{}, err
	}
	on, err := volumeOf(cmp.Or(spec.Volume, b.e.Volume), b.host)
	if err != nil {
		return Arm{}, err
	}
	a := Arm{Env: r.Environment, grouped: r.Grouped, Volume: on, Arm: record.Arm{
		Name: spec.Name, Environment: spec.Environment, Neighbour: spec.Neighbour,
		Isolation: spec.Isolation, Volume: spec.Volume, Set: spec.Set,
		Network: spec.Network, Seccomp: spec.Seccomp, Capabilities: spec.Capabilities, AppArmor: spec.AppArmor, Image: spec.Image, Pod: r.Pod,
		CPUs: spec.CPUs, MemoryBytes: spec.Memory, CPUSet: spec.CPUSet,
	}}
	a.Container = environment.Container{
		Network: spec.Network, Seccomp: spec.Seccomp, Capabilities: spec.Capabilities, AppArmor: spec.AppArmor, Image: spec.Image,
	}
	if a.Stages, err = stagesOf(b.kind, b.w.Params, spec.Set); err != nil {
		return Arm{}, err
	}
	if err := containerOf(a, r); err != nil {
		return Arm{}, err
	}
	if a.Limits, err = limitsOf(spec, r, b.host); err != nil {
		return Arm{}, err
	}
	if spec.Neighbour != "" {
		if a.Neighbour, err = b.neighbour(spec.Neighbour); err != nil {
			return Arm{}, err
		}
	}
	a.Isolation, err = b.isolation(spec, r)
	a.Title = titleOf(spec, r, a)
	return a, err
}

// rung finds an environment by its word: a name, and levels behind a colon.
func (b builder) rung(word string) (Rung, error) {
	name, levels, has := strings.Cut(word, ":")
	i := slices.IndexFunc(b.c.Rungs, func(r Rung) bool { return r.Name() == name })
	if i < 0 {
		return Rung{}, fmt.Errorf("no environment is called %q", name)
	}
	r := b.c.Rungs[i]
	if !has {
		return r, nil
	}
	with := r.Environment.Capabilities().With
	if with == nil {
		return Rung{}, fmt.Errorf("environment %s has no levels", name)
	}
	var err error
	r.Environment, err = with(levels)
	return r, err
}

func possible(s facts.Support) error {
	if s.Answer == facts.Yes {
		return nil
	}
	return impossible{s}
}

// containerOf says what is wrong with what was chosen of a container.
func containerOf(a Arm, r Rung) error {
	only := environment.Container{Image: a.Container.Image}
	if err := possible(suits(r, a.Container, a.Stages)); err != nil {
		return err
	}
	switch {
	case r.Archive && a.Container.Image == "":
		return hint.New(fmt.Errorf("%s needs an image", r.Name()), "image: FILE, an archive of docker save")
	case a.Container == environment.Container{}, r.Archive && a.Container == only:
		return nil
	case !r.Container:
		return hint.New(fmt.Errorf("%s makes no container whose network, seccomp, capabilities or profile could be chosen", r.Name()),
			"environment: container, runc, crun, podman or docker")
	case a.Container.Image != "" && !r.Images:
		return hint.New(fmt.Errorf("%s has no images", r.Name()), "environment: podman or docker")
	case a.Container.Image != "" && !a.Volume.Binds():
		return hint.New(errors.New("volume layer: the layer of an image is the engine's, which tare cannot fill with data"),
			"volume: bind, for all arms that are compared")
	case a.Container.Network != "" && a.Stages.Server == nil:
		return hint.New(errors.New("network: the workload has no server that would be reached over one"), "leave network out")
	}
	return nil
}

// suits says whether an environment can have what was chosen of a container. A server is
// reached at a published port unless something else was.
func suits(r Rung, c environment.Container, s workload.Stages) facts.Support {
	refuses := r.Environment.Capabilities().Refuses
	if refuses == nil {
		return facts.Supported()
	}
	if s.Server != nil {
		c.Network = cmp.Or(c.Network, environment.NetworkPublished)
	}
	if err := refuses(c); err != nil {
		return facts.Unsupported(err.Error(), hint.Of(err))
	}
	return facts.Supported()
}

// volumeOf is a volume that this host can have; the zero one of no word.
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
		s = facts.Unsupported("this host was not asked about it", "")
	}
	return v, possible(s)
}

// stagesOf is what is started, under parameters of the arm's own.
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

// neighbour makes a neighbour, which needs groups with limits, and its tools.
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
	env, err := b.place(spec.Environment)
	if err != nil {
		return nil, fmt.Errorf("neighbour %s: %w", name, err)
	}
	if err := b.bounds(name, env); err != nil {
		return nil, err
	}
	for _, t := range stages.Tools {
		if b.host.PodNode == "" && b.host.Tools[t.Name].Path == "" {
			return nil, impossible{facts.Unsupported(
				fmt.Sprintf("neighbour %s needs %s, which is not in PATH", name, t.Name), "apt-get install "+t.Package)}
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

// place is the environment that a neighbour runs in.
func (b builder) place(word string) (environment.Environment, error) {
	if word == "" || word == experiment.Baseline {
		return b.c.Beside, nil
	}
	r, err := b.rung(word)
	if err != nil {
		return nil, err
	}
	if !r.Pod {
		return nil, hint.New(fmt.Errorf("a neighbour cannot be in %s", r.Name()), "environment: host, or a pod: besteffort, burstable or guaranteed")
	}
	return r.Environment, possible(r.Support(b.host))
}

// bounds says whether a neighbour can be kept in bounds and paused. In a pod of a node
// that this host is not that is for tare in the pod.
func (b builder) bounds(name string, env environment.Environment) error {
	what := "neighbour " + name + " needs a control group with limits: "
	h := b.host
	switch {
	case h.PodNode == "":
	case env == b.c.Beside:
		return impossible{needsNode("neighbour "+name+" on the host", h)}
	default:
		return nil
	}
	if h.Groups == nil {
		return impossible{facts.Unsupported(what+h.GroupsWhy, h.GroupsRemedy)}
	}
	if err := h.Groups.Can("memory", "pids"); err != nil {
		return impossible{facts.Unsupported(what+err.Error(), "run as root")}
	}
	return nil
}

// isolation is what protects the arm.
func (b builder) isolation(spec experiment.Arm, r Rung) ([]isolation.Settings, error) {
	var all []isolation.Settings
	for _, text := range spec.Isolation {
		m, level, err := isolation.Parse(text)
		if err != nil {
			return nil, err
		}
		if err := possible(m.Support(b.host)); err != nil {
			return nil, err
		}
		s, err := m.Settings(level, b.host)
		if err != nil {
			return nil, err
		}
		if len(s.Arm) > 0 && !r.Grouped {
			return nil, impossible{facts.Unsupported(
				fmt.Sprintf("%s is set on the arm, and %s has no %s group of its own", text, r.Name(), strings.Join(s.Arm, " or ")),
				"environment: cgroup")}
		}
		all = append(all, s)
	}
	return all, nil
}

// titleOf says in a line what an arm is.
func titleOf(spec experiment.Arm, r Rung, a Arm) string {
	var parts []string
	switch {
	case a.Neighbour == nil:
		parts = append(parts, "alone")
	case a.Neighbour.Environment != "":
		parts = append(parts, "beside "+a.Neighbour.Name+": in a pod of its own ("+a.Neighbour.Environment+")")
	case len(spec.Isolation) == 0:
		parts = append(parts, "beside "+a.Neighbour.Name+", unprotected")
	default:
		var words []string
		for _, text := range spec.Isolation {
			if m, _, err := isolation.Parse(text); err == nil {
				words = append(words, m.Describe().Title)
			}
		}
		parts = append(parts, fmt.Sprintf("beside %s, %s: %s", a.Neighbour.Name, strings.Join(spec.Isolation, " and "), strings.Join(words, "; ")))
	}
	if r.Name() != experiment.Baseline {
		parts = append(parts, "in "+spec.Environment) // with its levels
	}
	if spec.Volume != "" {
		parts = append(parts, "on "+spec.Volume)
	}
	for _, chosen := range []struct{ name, word string }{
		{"cpus", figure(spec.CPUs)}, {"memory", bytes(spec.Memory)}, {"cpuset", spec.CPUSet},
		{"network", spec.Network}, {"seccomp", spec.Seccomp}, {"capabilities", spec.Capabilities}, {"apparmor", spec.AppArmor}, {"image", spec.Image},
	} {
		if chosen.word != "" {
			parts = append(parts, chosen.name+" "+chosen.word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Set)) {
		parts = append(parts, name+"="+spec.Set[name])
	}
	if a.Neighbour == nil && len(parts) > 1 {
		parts = parts[1:]
	}
	return strings.Join(parts, ", ")
}
