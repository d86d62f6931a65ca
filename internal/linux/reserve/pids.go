package reserve

import (
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// A tenth of the processes and threads that may exist stays free, at most mostPids.
const (
	tenth    = 10
	mostPids = 10_000
)

const pidsRemedy = "end other processes, or raise the limit that is named: ps -eLf lists every thread"

// Pids are the amounts of free process ids: of the host, and of each control group in which
// arms are put; nil: arms are put in none.
func Pids(groups *cgroup.Tree) []Amount {
	limits := cgroup.KernelPids(proc.FS("/"))
	if groups != nil {
		limits = groups.PidsLimits()
	}
	return left(limits)
}

func left(limits []cgroup.PidsLimit) (all []Amount) {
	for _, p := range limits {
		free := p.Most - p.Now
		all = append(all, Amount{
			Room: record.Room{Of: p.Of, Kind: record.RoomPids, Lowest: free, Bound: min(p.Most/tenth, mostPids)},
			Free: free, Remedy: pidsRemedy,
		})
	}
	return all
}
