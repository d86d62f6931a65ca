package observe

import "github.com/tarelab/tare/record"

// Sentence says an observation of two sides.
type Sentence struct {
	Rule string // name of the explanation; empty for two speeds
	code string
}

// None reports whether there is no sentence.
func (s Sentence) None() bool { return s.code == "" }

// Say is the sentence with both values.
func (s Sentence) Say(a, b float64) record.Said { return record.Say(s.code, "value", a, "other", b) }

// At the slower of two speeds, with the value at the faster one.
var (
	slowThrottled = Sentence{"", "slow_throttled"}
	slowWaiting   = Sentence{"", "slow_waiting"}
	slowStolen    = Sentence{"", "slow_stolen"}
	slowForeign   = Sentence{"", "slow_foreign"}
	slowNeighbour = Sentence{"", "slow_neighbour"}
	slowDisks     = Sentence{"", "slow_disks"}
	slowMemory    = Sentence{"", "slow_memory"}
	slowDearer    = Sentence{"", "slow_dearer"}
	slowMoved     = Sentence{"", "slow_moved"}
	slowPreempted = Sentence{"", "slow_preempted"}
	slowPagesRead = Sentence{"", "slow_pages_read"}
	// FewerCPUs is said where nothing else differs.
	FewerCPUs = Sentence{"", "slow_fewer_cpus"}
)

// Beside a neighbour, with the value alone; or with isolation, with the value without.
var (
	heldByQuota    = Sentence{"throttled", "held_by_quota"}
	stolenMore     = Sentence{"steal", "stolen_more"}
	waitsForDisks  = Sentence{"waiting for disks", "waits_for_disks"}
	waitsForMemory = Sentence{"waiting for memory", "waits_for_memory"}
	dearer         = Sentence{"more CPU time for the same work", "dearer"}
	moved          = Sentence{"moved between CPUs", "more_moved"}
	preempted      = Sentence{"taken off the CPU", "more_preempted"}
)
