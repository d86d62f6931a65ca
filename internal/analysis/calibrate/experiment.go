// Package calibrate plants losses of known size on arms and compares what was
// measured with what was planted. It is an experiment like any other: the arms are
// ordinary ones of the load spin, named in random order, and the analysis is told
// nothing. It must not start anything and must not print.
package calibrate

import (
	"fmt"
	"math/rand/v2"
	"strconv"
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

// window and discard are whole periods of a CPU quota, which is granted by the
// period of 100 ms. Until the second period after a thaw an arm has more than its share,
// and one that loses 1 or 2 % still has.
const (
	window  = 200 * time.Millisecond
	discard = 200 * time.Millisecond
)

// Workload is the name of the load.
const Workload = "spin"

// Plant chooses the losses and which arm has which, by the seed: two arms that lose
// nothing, and each size by pauses, work and quota. The arms are in the order of
// their names, which say nothing.
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
	fmt.Fprintf(&b, "title: what this host shows of losses whose size is known\nbudget: %s\nprecision: 0.01%%\nmargin: 1%%\nseed: %d\nwindow: %s\ndiscard: %s\n",
		budget, seed, window, discard)
	fmt.Fprintf(&b, "workloads:\n  %s: {kind: spin}\narms:\n  host: {environment: host}\n", Workload)
	for _, p := range planted {
		fmt.Fprintf(&b, "  %s: %s\n", p.Arm, p.arm())
	}
	return []byte(b.String())
}

// arm is the arm in an experiment. One without a loss has processes of its own, for
// it says something of its parameters.
func (p Planted) arm() string {
	switch p.How {
	case Pauses:
		return "{environment: host, set: {idle: " + number(p.Loss) + "}}"
	case Work:
		return "{environment: host, set: {work: " + number(1/(1-p.Loss)) + "}}"
	case Quota:
		if p.Loss == 0 {
			return "{environment: cgroup}"
		}
		return "{environment: cgroup, cpus: " + number(1-p.Loss) + "}"
	}
	return "{environment: host, set: {work: 1.0}}"
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 8, 64) }
