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

// limitsOf are the limits that an arm was given, for its control group.
func limitsOf(spec experiment.Arm, r Rung, host facts.Host) (cgroup.Limits, error) {
	l := cgroup.Limits{CPUs: spec.CPUs, Memory: uint64(spec.Memory), CPUSet: spec.CPUSet}
	switch {
	case l == cgroup.Limits{}:
		return l, nil
	case r.Pod:
		return l, hint.New(fmt.Errorf("%s: the limits of a pod are its class's", r.Name()), "environment: guaranteed:cpu=N,memory=SIZE")
	case !r.Grouped:
		return l, hint.New(fmt.Errorf("%s has no control group that could limit it", r.Name()), "environment: cgroup, or a container")
	case l.CPUs > float64(len(host.Control.CPUs)):
		return l, hint.New(fmt.Errorf("cpus: %s are more than the %d CPUs that tare may use here", figure(l.CPUs), len(host.Control.CPUs)), "a quota beyond that limits nothing: leave cpus out")
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
			return l, impossible{facts.Unsupported("cpuset: "+err.Error(), hint.Of(err))}
		}
	}
	l.CPUSet = set.String() // as the kernel writes it
	return l, nil
}

// figure is a number for people; empty for none.
func figure(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// bytes is a size for people; empty for none.
func bytes(n int64) string {
	switch {
	case n == 0:
		return ""
	case n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
