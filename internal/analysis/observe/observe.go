// Package observe is the table of observations: from which difference each counts, the sentence that says so, and the
// cause that it shows. The explanations of a price matrix, the two speeds of an arm, the causes of tare advise and the
// causes of an answer read it; none has a threshold of its own.
package observe

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// PerOp is the end of the name of an observation that is per operation of the workload. The others are per second.
const PerOp = " per op"

// Names of observations: probes, and those of the neighbour.
const (
	Waiting      = "cpu.wait" // of all threads, so it may exceed 1 s per second
	WaitPerOp    = Waiting + PerOp
	CPU          = "cpu.time"
	CPUPerOp     = CPU + PerOp
	Throttled    = "cpu.throttled"
	Stolen       = "cpu.steal"
	Foreign      = "cpu.foreign"
	NeighbourCPU = "neighbour cpu.time"
	DiskStall    = "pressure.io.some"
	MemoryStall  = "pressure.memory.some"
	LimitHits    = "memory.limit_hits"
	Flushes      = "disk.flushes" + PerOp
	Preempted    = "switches.involuntary" + PerOp
	Migrations   = "cpu.migrations" + PerOp
	MajorFaults  = "faults.major" + PerOp
)

// Differences that count as large: a twentieth of a CPU or of the time, or a tenth more.
const (
	ATwentieth = 0.05
	aTenth     = 1.1
)

// Observation is a row of the table. An empty field: the observation shows nothing there.
type Observation struct {
	Name string
	// Least is the smallest difference that counts, in seconds per second; 0: the larger value has to be Times the smaller.
	Least, Times float64
	// Speeds says what is more at the slower of an arm's two speeds, Alone what is more beside a neighbour than without
	// one, Isolated what is more with isolation than without.
	Speeds, Alone, Isolated Sentence
	// Own is the cause of an arm that waits by itself, Beside the cause beside a neighbour.
	Own, Beside record.LossCause
	// Excludes is the setting that holds nothing back where this counter is 0.
	Excludes record.LossCause
	// Answer is the cause in a row of the answer.
	Answer record.Cause
}

// table is in the order of reports.
var table = []Observation{
	{Name: Throttled, Least: ATwentieth, Speeds: slowThrottled, Isolated: heldByQuota, Own: record.LossCPULimit, Excludes: record.LossCPULimit, Answer: record.CauseThrottle},
	{Name: Waiting, Least: ATwentieth, Speeds: slowWaiting, Own: record.LossOtherWork, Beside: record.LossNeighbourCPU, Excludes: record.LossOtherWork},
	{Name: Stolen, Least: ATwentieth, Speeds: slowStolen, Alone: stolenMore, Isolated: stolenMore},
	{Name: Foreign, Least: ATwentieth, Speeds: slowForeign},
	{Name: NeighbourCPU, Least: ATwentieth, Speeds: slowNeighbour},
	{Name: DiskStall, Least: ATwentieth, Speeds: slowDisks, Alone: waitsForDisks, Own: record.LossVolume, Beside: record.LossNeighbourDisk, Answer: record.CauseDisk},
	{Name: MemoryStall, Least: ATwentieth, Speeds: slowMemory, Alone: waitsForMemory, Own: record.LossMemoryLimit, Beside: record.LossNeighbourMemory},
	{Name: CPUPerOp, Times: aTenth, Speeds: slowDearer, Alone: dearer, Answer: record.CauseWork},
	{Name: Migrations, Times: aTenth, Speeds: slowMoved, Isolated: moved},
	{Name: Preempted, Times: 2, Speeds: slowPreempted, Isolated: preempted},
	{Name: MajorFaults, Times: aTenth, Speeds: slowPagesRead},
	{Name: Flushes, Times: aTenth},
	{Name: LimitHits, Excludes: record.LossMemoryLimit},
}

// Table returns the rows for which of is true.
func Table(of func(Observation) bool) []Observation {
	return slices.DeleteFunc(slices.Clone(table), func(o Observation) bool { return !of(o) })
}

// Of is the row of a name. It panics where there is none: names are constants.
func Of(name string) Observation {
	return table[slices.IndexFunc(table, func(o Observation) bool { return o.Name == name })]
}

// Counts reports whether more exceeds less by so much that the difference matters.
func (o Observation) Counts(more, less float64) bool {
	if o.Least > 0 {
		return more-less >= o.Least
	}
	return more >= o.Times*less
}

// Cut returns the probe of a name, and whether the observation is per operation.
func Cut(name string) (probe string, perOp bool) {
	if n := len(name) - len(PerOp); n > 0 && name[n:] == PerOp {
		return name[:n], true
	}
	return name, false
}

// Unit is the unit of an observation: seconds, or 1 for counts.
func Unit(name string) string {
	if slices.Contains([]string{Migrations, Preempted, MajorFaults, Flushes, LimitHits}, name) {
		return "1"
	}
	return "s"
}
