package analysis

import (
	"fmt"
	"slices"
	"strings"
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

// What counts as large: a twentieth of a CPU or of the time, or a tenth more.
const (
	aTwentieth = 0.05
	aTenth     = 1.1
)

// lossRules say where the loss without isolation comes from.
var lossRules = []rule{
	{"waiting for a CPU", []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.slower || !w.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("its threads waited %s a second for a CPU, %s alone; the neighbour took %s",
			seconds(w.arm), seconds(w.against), cpus(n.arm))
	}},
	{"more CPU time for the same work", []string{cpuPerTask}, dearer},
	{"waiting for disks", []string{stalledIO}, stalled(stalledIO, "disks")},
	{"waiting for memory", []string{stalledMem}, stalled(stalledMem, "memory")},
	{"steal", []string{stolen}, steals},
}

// mechanismRules say why a mechanism does less than none, or nothing.
var mechanismRules = []rule{
	{"pinning concentrates the neighbour's weight", []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.has("cpuset.pinned") || !rc.slower || !w.more || n.more {
			return ""
		}
		return fmt.Sprintf("slower than without isolation although the neighbour took no more CPU time (%s, %s without): "+
			"its whole weight counts on the CPUs that it is kept on, and threads that happen to be there waited %s a second for their turn, %s without",
			cpus(n.arm), cpus(n.against), seconds(w.arm), seconds(w.against))
	}},
	{"waits longer than without isolation", []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if rc.has("cpuset.pinned") || !rc.slower || !w.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("slower than without isolation: its threads waited %s a second for a CPU, %s without; the neighbour took %s, %s without",
			seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
	}},
	{"priority counts only within a group", []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.only("nice", "sched.idle", "sched.batch") || rc.group.arm(rc.arm).Environment == "host" || rc.faster || rc.slower || w.more || w.less {
			return ""
		}
		return fmt.Sprintf("changes nothing that shows: threads waited %s a second for a CPU, %s without, and the neighbour took %s, %s without. "+
			"It ranks threads within one cpu group, and the neighbour has a group of its own",
			seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
	}},
	{"fewer CPUs than it can use", []string{waiting, neighbourCPU}, func(rc *ruleContext) string {
		w, n := rc.deltas[waiting], rc.deltas[neighbourCPU]
		if !rc.has("cpuset.split") || rc.faster || !w.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("keeps the workload from the neighbour's CPUs, too: on those that it has left its threads waited %s a second for a turn, %s without isolation; the neighbour took %s",
			seconds(w.arm), seconds(w.against), cpus(n.arm))
	}},
	{"moved between CPUs", []string{migrations}, func(rc *ruleContext) string {
		m := rc.deltas[migrations]
		if !rc.slower || !m.more || m.arm < aTenth*m.against {
			return ""
		}
		return fmt.Sprintf("its threads were moved to another CPU %s times an operation, %s without isolation", figure(m.arm), figure(m.against))
	}},
	{"taken off the CPU", []string{preempted}, func(rc *ruleContext) string {
		p := rc.deltas[preempted]
		if !rc.slower || !p.more || p.arm < 2*p.against {
			return ""
		}
		return fmt.Sprintf("its threads were taken off their CPU %s times an operation, %s without isolation", figure(p.arm), figure(p.against))
	}},
	{"throttled", []string{throttled}, func(rc *ruleContext) string {
		t := rc.deltas[throttled]
		if rc.faster || !t.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("its own CPU quota held it back for %s a second, %s without isolation", seconds(t.arm), seconds(t.against))
	}},
	{"steal", []string{stolen}, steals},
}

// remainingRules say where the loss lies that a mechanism leaves.
var remainingRules = []rule{
	{"more CPU time for the same work", []string{waitPerOp, cpuPerTask}, func(rc *ruleContext) string {
		if rc.deltas[waitPerOp].more { // waiting is there, too
			return ""
		}
		return dearer(rc)
	}},
}

// dearer is a loss that is not one of CPU time given but of what it is worth:
// caches, memory bandwidth, the other thread of a core, the clock.
func dearer(rc *ruleContext) string {
	c := rc.deltas[cpuPerTask]
	if !rc.slower || !c.more || c.arm < aTenth*c.against {
		return ""
	}
	return fmt.Sprintf("an operation took %s of CPU time, %s alone: what the two share beside the CPUs' time (caches, memory bandwidth, a core's other thread) costs, and no share of time gives that back",
		seconds(c.arm), seconds(c.against))
}

func stalled(metric, what string) func(*ruleContext) string {
	return func(rc *ruleContext) string {
		p := rc.deltas[metric]
		if !rc.slower || !p.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("some of its threads waited for %s in %s of every second, %s alone", what, seconds(p.arm), seconds(p.against))
	}
}

func steals(rc *ruleContext) string {
	x := rc.deltas[stolen]
	if !rc.slower || !x.grows(aTwentieth) {
		return ""
	}
	return fmt.Sprintf("the hypervisor took %s a second of CPU time, against %s: part of the difference may be its doing", seconds(x.arm), seconds(x.against))
}

// grows says that more is shown, by at least this many seconds a second.
func (x delta) grows(by float64) bool { return x.more && x.arm-x.against >= by }

// has says that a mechanism is among those of the arm, at whatever level.
func (rc *ruleContext) has(name string) bool { return slices.Contains(rc.names(), name) }

// only says that the arm has mechanisms, and none but these.
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

// cpus is CPU seconds per second.
func cpus(x float64) string {
	if fmt.Sprintf("%.2f", x) == "1.00" {
		return "1.00 CPU"
	}
	return fmt.Sprintf("%.2f CPUs", x)
}

func seconds(x float64) string {
	switch {
	case x >= 0.9995:
		return fmt.Sprintf("%.2f s", x)
	case x >= 0.9995e-3:
		return fmt.Sprintf("%.3g ms", x*1e3)
	}
	return fmt.Sprintf("%.3g µs", x*1e6)
}

func figure(x float64) string { return fmt.Sprintf("%.3g", x) }
