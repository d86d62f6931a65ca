package plan

import "time"

const (
	// leastLoad is the least time of a workload before its first block: preparing, and waiting
	// until the load is ready.
	leastLoad = time.Second
	// leastArm is the least time of an arm until the first block is complete: its launch, its part
	// of the pilot and one window.
	leastArm = 250 * time.Millisecond
)

// Least returns the shortest budget in which a run can measure anything of each workload. A busy host
// needs more.
func (p *Plan) Least() time.Duration {
	least := time.Duration(p.Arms()) * leastArm
	for i := range p.Loads {
		l := &p.Loads[i]
		least += leastLoad
		if settle := l.Settle(); settle > 0 {
			least += time.Duration(len(l.Arms)) * (settle + l.Shortest())
		}
		if p.Window > leastArm { // a fixed one is no part of leastArm
			least += time.Duration(len(l.Arms)) * (p.Window + p.Discard)
		}
	}
	return least
}

// Arms counts the arms of all workloads.
func (p *Plan) Arms() int {
	n := 0
	for _, l := range p.Loads {
		n += len(l.Arms)
	}
	return n
}
