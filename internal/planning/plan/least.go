package plan

import "time"

// What a workload takes at least before its first block is complete: preparing
// and waiting for the load, and of each arm a launch, the pilot and a window.
const (
	leastLoad = time.Second
	leastArm  = 250 * time.Millisecond
)

// Least is the shortest budget in which a run can measure anything of each
// workload; a host that is busy needs more.
func (p *Plan) Least() time.Duration {
	least := time.Duration(p.Arms()) * leastArm
	for i := range p.Loads {
		l := &p.Loads[i]
		least += leastLoad
		if settle := l.Settle(); settle > 0 {
			least += time.Duration(len(l.Arms)) * (settle + l.Shortest())
		}
	}
	return least
}

// Arms is how many arms there are, each counted with every workload.
func (p *Plan) Arms() int {
	n := 0
	for _, l := range p.Loads {
		n += len(l.Arms)
	}
	return n
}
