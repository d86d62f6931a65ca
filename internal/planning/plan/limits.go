package plan

import (
	"fmt"
	"strconv"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// limitsOf returns the limits of an arm's control group that the experiment sets.
func limitsOf(spec experiment.ArmSpec, r Rung, host facts.Host) (cgroup.Limits, error) {
	l := cgroup.Limits{CPUs: spec.CPUs, Memory: uint64(spec.Memory), CPUSet: spec.CPUSet}
	switch {
	case l == cgroup.Limits{}:
		return l, nil
	case r.Capabilities().Pod:
		return l, hint.New(fmt.Errorf("%s: the limits of a pod are its class's", r.Name()), "environment: guaranteed:cpu=N,memory=SIZE")
	case !r.Capabilities().Grouped:
		return l, hint.New(fmt.Errorf("%s has no control group whose limits can be set", r.Name()), "environment: cgroup, or a container")
	case l.CPUs > float64(len(host.Control.CPUs)):
		return l, hint.New(fmt.Errorf("cpus: %s are more than the %d CPUs that tare may use here", strconv.FormatFloat(l.CPUs, 'g', -1, 64), len(host.Control.CPUs)), "a quota beyond that limits nothing: leave cpus out")
	}
	if l.CPUSet == "" {
		return l, nil
	}
	set, err := cpuset.Parse(l.CPUSet)
	if err != nil || set.IsEmpty() {
		return l, fmt.Errorf("cpuset %q is not a list of CPUs such as 0-3,6", l.CPUSet)
	}
	if have := cpuset.New(host.Control.CPUs...); !set.IsSubsetOf(have) {
		return l, hint.New(fmt.Errorf("cpuset %s: tare may use CPU %s here", set, have), "name some of those")
	}
	if host.Groups != nil {
		if err := host.Groups.Can("cpuset"); err != nil {
			return l, impossible{facts.Unsupported(noCPUSet(err), hint.Of(err))}
		}
	}
	l.CPUSet = set.String() // as the kernel writes it
	return l, nil
}
