package analysis

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// Observations that rules read.
const (
	waiting    = "cpu.wait" // of all threads, so it may exceed 1 s per second
	waitPerOp  = waiting + perOp
	cpuPerTask = CPUMetric + perOp
	throttled  = "cpu.throttled"
	stolen     = "cpu.steal"
	preempted  = "switches.involuntary" + perOp
	migrations = "cpu.migrations" + perOp
	stalledIO  = "pressure.io.some"
	stalledMem = "pressure.memory.some"
)

// Differences that count as large: a twentieth of a CPU or of the time, or a tenth more.
const (
	aTwentieth = 0.05
	aTenth     = 1.1
)

// lossRules explain the loss without isolation.
var lossRules = []rule{
	{ruleWaiting, []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.slower || !w.grows(aTwentieth) {
			return ""
		}
		return saysWaiting(w, n)
	}},
	{ruleDearer, []string{cpuPerTask}, dearer},
	{ruleDisks, []string{stalledIO}, stalled(stalledIO, forDisks)},
	{ruleMemory, []string{stalledMem}, stalled(stalledMem, forMemory)},
	{ruleSteal, []string{stolen}, steals},
}

// mechanismRules explain a mechanism that makes the load slower, or changes nothing.
var mechanismRules = []rule{
	{rulePinning, []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.has("cpuset.pinned") || !rc.slower || !w.more || n.more {
			return ""
		}
		return saysPinned(w, n)
	}},
	{ruleWaitsLonger, []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if rc.has("cpuset.pinned") || !rc.slower || !w.grows(aTwentieth) {
			return ""
		}
		return saysWaitsLonger(w, n)
	}},
	{rulePriority, []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.only("nice", "sched.idle", "sched.batch") || !besideGroups(rc.group.arm(rc.arm)) || rc.faster || rc.slower || w.more || w.less {
			return ""
		}
		return saysPriority(w, n)
	}},
	{ruleFewerCPUs, []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.has("cpuset.split") || rc.faster || !w.grows(aTwentieth) {
			return ""
		}
		return saysFewerCPUs(w, n)
	}},
	{ruleMoved, []string{migrations}, func(rc *ruleContext) string {
		m := rc.deltas[migrations]
		if !rc.slower || !m.more || m.arm < aTenth*m.against {
			return ""
		}
		return saysMoved(m)
	}},
	{rulePreempted, []string{preempted}, func(rc *ruleContext) string {
		p := rc.deltas[preempted]
		if !rc.slower || !p.more || p.arm < 2*p.against {
			return ""
		}
		return saysPreempted(p)
	}},
	{ruleThrottled, []string{throttled}, func(rc *ruleContext) string {
		t := rc.deltas[throttled]
		if rc.faster || !t.grows(aTwentieth) {
			return ""
		}
		return saysThrottled(t)
	}},
	{ruleSteal, []string{stolen}, steals},
}

// besideGroups says whether arm and neighbour compete as two cpu groups: the arm is a container or a
// service. In older records the host is a process in the root group.
func besideGroups(a record.Arm) bool {
	return a.RunsAs == record.AsService || a.RunsAs == "" && a.Environment != "host"
}

// remainingRules explain the loss that remains with a mechanism.
var remainingRules = []rule{
	{ruleDearer, []string{waitPerOp, cpuPerTask}, func(rc *ruleContext) string {
		if rc.deltas[waitPerOp].more { // the load waits, too
			return ""
		}
		return dearer(rc)
	}},
}

// dearer explains a loss in which the load needs more CPU time per operation: caches, memory
// bandwidth, the other thread of a core, the clock.
func dearer(rc *ruleContext) string {
	c := rc.deltas[cpuPerTask]
	if !rc.slower || !c.more || c.arm < aTenth*c.against {
		return ""
	}
	return saysDearer(c)
}

func stalled(metric, on string) func(*ruleContext) string {
	return func(rc *ruleContext) string {
		p := rc.deltas[metric]
		if !rc.slower || !p.grows(aTwentieth) {
			return ""
		}
		return saysStalled(on, p)
	}
}

func steals(rc *ruleContext) string {
	x := rc.deltas[stolen]
	if !rc.slower || !x.grows(aTwentieth) {
		return ""
	}
	return saysStolen(x)
}

// grows reports whether the arm is shown to have more, by at least this many seconds a second.
func (x delta) grows(by float64) bool { return x.more && x.arm-x.against >= by }

// has reports whether a mechanism is among those of the arm, at any level.
func (rc *ruleContext) has(name string) bool { return slices.Contains(rc.names(), name) }

// only reports whether the arm has mechanisms, and all of them are among names.
func (rc *ruleContext) only(names ...string) bool {
	own := rc.names()
	return len(own) > 0 && !slices.ContainsFunc(own, func(n string) bool { return !slices.Contains(names, n) })
}

func (rc *ruleContext) names() []string {
	var all []string
	for _, text := range rc.group.arm(rc.arm).Isolation {
		name, _, _ := strings.Cut(text, "=")
		all = append(all, name)
	}
	return all
}
