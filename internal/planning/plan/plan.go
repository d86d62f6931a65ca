// Package plan makes the plan of a run from an experiment, the facts of the host and a seed: arms, their
// order and the division of the budget. During the run it chooses the lengths of windows from the
// pilot's traces. It is pure: it never reads or changes the host.
package plan

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// Catalog has the workloads, neighbours and environments from which an experiment can choose.
type Catalog struct {
	Workload func(kind string) (workload.Workload, bool)
	// Neighbour finds the load of a neighbour by its kind; nil: there are no neighbours.
	Neighbour func(kind string) (workload.Workload, bool)
	// Beside is the environment of a neighbour that names none.
	Beside environment.Environment
	Rungs  []Rung
}

// Plan is everything that is known before a run.
type Plan struct {
	Record record.Plan
	Loads  []Load
	Left   []record.Left
	// Scratch is the directory in which the run makes its scratch directory; empty: the default.
	Scratch string
	// AllowUnequal compares arms of unequal durability and marks them, instead of refusing them.
	AllowUnequal bool
	// Generations is the number of launches, Window the length of a window and Discard its settle
	// time, as far as the experiment fixes them; zero: the run chooses.
	Generations     int
	Window, Discard time.Duration
	// PodNode is the node of the arms if they are pods on another node; empty: the arms are here.
	PodNode string
}

// Load is one workload, ready to be run under its arms.
type Load struct {
	record.Workload
	Stages workload.Stages // of the baseline
	Arms   []PlannedArm    // the baseline first, then its twin
	// Subject is the arm that people ask about, see subjectOf. Workload.Question names it only if
	// it is judged first.
	Subject string
	Share   float64 // weight of its time: that of the experiment times its arms, each of which takes the same time in a block
}

// PlannedArm is an arm of the record with everything that is needed to launch it.
type PlannedArm struct {
	record.Arm
	Env environment.Environment
	// Stages are the workload's, under this arm's own parameters.
	Stages workload.Stages
	// Volume is the file system under the data directory.
	Volume volume.Volume
	// Container has the settings of its container that were chosen.
	Container environment.Container
	// Limits are the limits of its cgroup that were chosen.
	Limits cgroup.Limits
	// Neighbour runs beside it; nil: none. Isolation protects the arm from it.
	Neighbour *Neighbour
	Isolation []isolation.Settings
}

// grouped says whether the arm has control groups with controllers of its own.
func (a PlannedArm) grouped() bool { return a.Env != nil && a.Env.Capabilities().Grouped }

// Neighbour is a load that makes noise beside an arm, ready to be launched.
type Neighbour struct {
	record.Neighbour
	Stages workload.Stages
	// Env is where it runs: Catalog.Beside, or a pod of its own.
	Env environment.Environment
}

// Order returns the random order in which a block visits n arms. It depends on nothing but the
// seed, the workload, the launch (generation) and the block.
func Order(seed uint64, load string, generation, block, n int) []int {
	return stream(seed, load, generation, block).Perm(n)
}

// ArrivalSeed seeds the arrivals of an open-loop load: the same in all arms of a block.
func ArrivalSeed(seed uint64, load string, generation, block int) uint64 {
	return stream(seed, load+"/arrivals", generation, block).Uint64()
}

func stream(seed uint64, load string, generation, block int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", load, generation, block)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Expected returns the longest time that the run takes: its budget.
func (p *Plan) Expected() time.Duration {
	return time.Duration(p.Record.Budget * float64(time.Second))
}
