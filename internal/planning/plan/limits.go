package plan

import (
	"errors"
	"fmt"
	"strconv"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// beyondHost is the error of an arm that this host cannot have. It is not skipped: its limits are the question.
type beyondHost struct{ error }

func beyond(err error) error { return beyondHost{err} }

func (b beyondHost) Unwrap() []error { return []error{b.error, facts.ErrUnsupported} }

// limitsOf returns the limits of an arm's control group that the experiment sets.
func limitsOf(spec experiment.ArmSpec, r Rung, host facts.Host) (cgroup.Limits, error) {
	l := cgroup.Limits{CPUs: spec.CPUs, Burst: spec.Burst, Weight: uint64(spec.Weight), Memory: uint64(spec.MemoryBytes), CPUSet: spec.CPUSet}
	switch {
	case l == cgroup.Limits{}:
		return l, nil
	case r.Capabilities().Pod:
		return l, hint.New(fmt.Errorf("%s: the limits of a pod are its class's", r.Name()), "environment: guaranteed:cpu=N,memory=SIZE")
	case !r.Capabilities().Grouped:
		return l, hint.New(fmt.Errorf("%s has no control group whose limits can be set", r.Name()), "environment: cgroup, or a container")
	case l.CPUs > float64(len(host.Control.CPUs)):
		return l, hint.New(beyond(fmt.Errorf("cpus: %s are more than the %d CPUs that tare may use here", strconv.FormatFloat(l.CPUs, 'g', -1, 64), len(host.Control.CPUs))), "a quota beyond that limits nothing: leave cpus out")
	}
	if err := burstOf(l, host); err != nil {
		return l, err
	}
	if l.CPUSet == "" {
		return l, nil
	}
	set, err := cpuset.Parse(l.CPUSet)
	if err != nil || set.IsEmpty() {
		return l, fmt.Errorf("cpuset %q is not a list of CPUs such as 0-3,6", l.CPUSet)
	}
	if have := cpuset.New(host.Control.CPUs...); !set.IsSubsetOf(have) {
		return l, hint.New(beyond(fmt.Errorf("cpuset %s: tare may use CPU %s here", set, have)), "name some of those")
	}
	if host.Groups != nil {
		if s := host.GroupsCan("cpuset"); s.Answer != facts.Yes {
			return l, impossible{facts.Unsupported(record.Say("no_cpuset", "why", s.Reason), s.Remedy)}
		}
	}
	l.CPUSet = set.String() // as the kernel writes it
	return l, nil
}

// burstOf returns an error if the quota cannot have this burst, and an impossible error if the kernel
// cannot.
func burstOf(l cgroup.Limits, host facts.Host) error {
	switch {
	case l.Burst == 0:
		return nil
	case l.CPUs == 0:
		return hint.New(errors.New("burst: there is no quota whose unused time could be saved up"), "cpus: N beside it")
	case l.Burst > l.CPUs:
		return hint.New(fmt.Errorf("burst: %v is more than the quota, which is the kernel's most", l.Burst),
			fmt.Sprintf("burst: %v or less", l.CPUs))
	}
	m, _ := isolation.Find("cpu.burst")
	return requireSupport(m.Support(host))
}
