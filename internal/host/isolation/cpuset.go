package isolation

import (
	"fmt"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// pinned keeps the neighbour on the last CPUs; the arm may use all. This does not isolate, and
// can be worse than nothing: the neighbour then competes with its full weight on the CPUs where
// threads of the arm happen to be.
type pinned struct{}

func (pinned) Describe() description {
	return description{Name: "cpuset.pinned", Title: record.Say("isolation_pinned"),
		Level: level{Default: "1", Check: check(cpuCount)}}
}

func cpuCount(s string) (int, error) { return whole(s, 1, 1<<16) }

func (pinned) Support(h facts.Host) facts.Support { return manyCPUs(h) }

func manyCPUs(h facts.Host) facts.Support {
	if n := len(h.Control.CPUs); n == 1 {
		return facts.Unsupported(record.Say("one_cpu"), moreCPUs)
	} else if n == 0 {
		return facts.Support{Answer: facts.Unknown, Reason: record.Say("cpus_unknown")}
	}
	return can(h, record.Said{}, "cpuset")
}

func (pinned) Settings(level string, h facts.Host) (Settings, error) {
	_, last, err := cut(level, h)
	if err != nil {
		return Settings{}, err
	}
	return Settings{Neighbour: []string{"cpuset", "cpu"}, Files: []File{cpus(last)}, Live: true}, nil
}

// cpus sets the CPUs of the neighbour's group.
func cpus(list []int) File {
	want := cpuset.New(list...).String()
	return File{Controller: "cpuset", Name: "cpuset.cpus", Write: want,
		Took: func(got string) bool { return cgroup.Same(got, want) }}
}

// cut divides the CPUs: the neighbour gets the last n, the arm the rest.
func cut(level string, h facts.Host) (first, last []int, err error) {
	n, err := cpuCount(level)
	if err != nil {
		return nil, nil, err
	}
	all := h.Control.CPUs
	if n >= len(all) {
		return nil, nil, fmt.Errorf("%d of %d CPUs for the neighbour leave none for the arm", n, len(all))
	}
	return all[:len(all)-n], all[len(all)-n:], nil
}

// split gives each side CPUs of its own. The arm's CPUs are set thread by thread, so that an
// arm without a cpuset group can have them too.
type split struct{}

func (split) Describe() description {
	return description{Name: "cpuset.split", Title: record.Say("isolation_split"),
		Level: level{Default: "1", Check: check(cpuCount)}}
}

func (split) Support(h facts.Host) facts.Support { return manyCPUs(h) }

func (split) Settings(level string, h facts.Host) (Settings, error) {
	first, last, err := cut(level, h)
	if err != nil {
		return Settings{}, err
	}
	return Settings{
		Neighbour: []string{"cpuset", "cpu"},
		Files:     []File{cpus(last)},
		Threads:   []Threads{{Of: Arm, CPUs: first}},
		Live:      true,
	}, nil
}
