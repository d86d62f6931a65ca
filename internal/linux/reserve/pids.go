package reserve

import (
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Of the processes and threads that there may be, a tenth stays free, at most mostPids.
const (
	tenth    = 10
	mostPids = 10_000
)

const pidsRemedy = "end other processes, or raise the limit that is named: ps -eLf lists every thread"

// Pids are the processes and threads that the host has left, and those of each control group in
// which arms are put; nil: there is none.
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
