// Package calibrate plants losses of known size on arms and compares the measured losses with
// them. It is an ordinary experiment with the load spin: the arms are named in random order,
// and the analysis does not know the losses. It must not start anything and must not print.
package calibrate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Planted is a loss of known size in an arm.
type Planted struct {
	Arm  string
	How  string // of the constants below
	Loss float64
}

// How a loss is planted.
const (
	None   = "none"
	Pauses = "pauses" // the load does nothing that counts for a share of its time
	Work   = "work"   // each operation needs more CPU time
	Quota  = "quota"  // the kernel grants less than one CPU
)

// sizes are the losses, as ratios.
var sizes = [...]float64{0.01, 0.02, 0.05, 0.10}

// window and discard are whole periods of a CPU quota (100 ms). Until the second period after
// a thaw an arm has more than its quota.
const (
	window  = 200 * time.Millisecond
	discard = 200 * time.Millisecond
)

// Workload is the name of the load.
const Workload = "spin"

// Plant assigns losses to arms by the seed: two arms without a loss, and each size by pauses,
// work and quota. The names of the arms are neutral, and the arms are in the order of names.
func Plant(seed uint64) []Planted {
	all := []Planted{{How: None}, {How: Quota}}
	for _, how := range []string{Pauses, Work, Quota} {
		for _, loss := range sizes {
			all = append(all, Planted{How: how, Loss: loss})
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0xca11b))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		all[i].Arm = fmt.Sprintf("arm-%02d", i+1)
	}
	return all
}

// Experiment writes the experiment file that plants the losses. The run uses its whole
// budget, because the precision is the smallest that there is.
func Experiment(planted []Planted, seed uint64, budget time.Duration) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, head, title, budget, seed, window, discard, Workload)
	for _, p := range planted {
		fmt.Fprintf(&b, "  %s: %s\n", p.Arm, p.arm())
	}
	return []byte(b.String())
}

// head is the file of an experiment up to its planted arms.
const head = `title: %s
budget: %s
precision: 0.01%%
margin: 1%%
seed: %d
window: %s
discard: %s
workloads:
  %s: {kind: spin}
arms:
  host: {environment: host}
`

// arm is the arm in the file of an experiment. An arm without a loss sets a parameter too, so
// that it has processes of its own.
func (p Planted) arm() string {
	switch p.How {
	case Pauses:
		return fmt.Sprintf("{environment: host, set: {idle: %.8f}}", p.Loss)
	case Work:
		return fmt.Sprintf("{environment: host, set: {work: %.8f}}", 1/(1-p.Loss))
	case Quota:
		if p.Loss == 0 {
			return "{environment: cgroup}"
		}
		return fmt.Sprintf("{environment: cgroup, cpus: %.8f}", 1-p.Loss)
	}
	return "{environment: host, set: {work: 1.0}}"
}
