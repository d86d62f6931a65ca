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
	{"waiting for a CPU", []string{waiting, neighbourCPU}, func(s *scene) string {
		w, n := s.shifts[waiting], s.shifts[neighbourCPU]
		if !s.slower || !w.grows(aTwentieth) {
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
	{"pinning concentrates the neighbour's weight", []string{waiting, neighbourCPU}, func(s *scene) string {
		w, n := s.shifts[waiting], s.shifts[neighbourCPU]
		if !s.has("cpuset.pinned") || !s.slower || !w.more || n.more {
			return ""
		}
		return fmt.Sprintf("slower than without isolation although the neighbour took no more CPU time (%s, %s without): "+
			"its whole weight counts on the CPUs that it is kept on, and threads that happen to be there waited %s a second for their turn, %s without",
			cpus(n.arm), cpus(n.against), seconds(w.arm), seconds(w.against))
	}},
	{"waits longer than without isolation", []string{waiting, neighbourCPU}, func(s *scene) string {
		w, n := s.shifts[waiting], s.shifts[neighbourCPU]
		if s.has("cpuset.pinned") || !s.slower || !w.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("slower than without isolation: its threads waited %s a second for a CPU, %s without; the neighbour took %s, %s without",
			seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
	}},
	{"priority counts only within a group", []string{waiting, neighbourCPU}, func(s *scene) string {
		w, n := s.shifts[waiting], s.shifts[neighbourCPU]
		if !s.only("nice", "sched.idle", "sched.batch") || s.m.arm(s.arm).Environment == "host" || s.faster || s.slower || w.more || w.less {
			return ""
		}
		return fmt.Sprintf("changes nothing that shows: threads waited %s a second for a CPU, %s without, and the neighbour took %s, %s without. "+
			"It ranks threads within one cpu group, and the neighbour has a group of its own",
			seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
	}},
	{"fewer CPUs than it can use", []string{waiting, neighbourCPU}, func(s *scene) string {
		w, n := s.shifts[waiting], s.shifts[neighbourCPU]
		if !s.has("cpuset.split") || s.faster || !w.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("keeps the workload from the neighbour's CPUs, too: on those that it has left its threads waited %s a second for a turn, %s without isolation; the neighbour took %s",
			seconds(w.arm), seconds(w.against), cpus(n.arm))
	}},
	{"moved between CPUs", []string{migrations}, func(s *scene) string {
		m := s.shifts[migrations]
		if !s.slower || !m.more || m.arm < aTenth*m.against {
			return ""
		}
		return fmt.Sprintf("its threads were moved to another CPU %s times an operation, %s without isolation", figure(m.arm), figure(m.against))
	}},
	{"taken off the CPU", []string{preempted}, func(s *scene) string {
		p := s.shifts[preempted]
		if !s.slower || !p.more || p.arm < 2*p.against {
			return ""
		}
		return fmt.Sprintf("its threads were taken off their CPU %s times an operation, %s without isolation", figure(p.arm), figure(p.against))
	}},
	{"throttled", []string{throttled}, func(s *scene) string {
		t := s.shifts[throttled]
		if s.faster || !t.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("its own CPU quota held it back for %s a second, %s without isolation", seconds(t.arm), seconds(t.against))
	}},
	{"steal", []string{stolen}, steals},
}

// remainingRules say where the loss lies that a mechanism leaves.
var remainingRules = []rule{
	{"more CPU time for the same work", []string{waitPerOp, cpuPerTask}, func(s *scene) string {
		if s.shifts[waitPerOp].more { // waiting is there, too
			return ""
		}
		return dearer(s)
	}},
}

// dearer is a loss that is not one of CPU time given but of what it is worth:
// caches, memory bandwidth, the other thread of a core, the clock.
func dearer(s *scene) string {
	c := s.shifts[cpuPerTask]
	if !s.slower || !c.more || c.arm < aTenth*c.against {
		return ""
	}
	return fmt.Sprintf("an operation took %s of CPU time, %s alone: what the two share beside the CPUs' time (caches, memory bandwidth, a core's other thread) costs, and no share of time gives that back",
		seconds(c.arm), seconds(c.against))
}

func stalled(metric, what string) func(*scene) string {
	return func(s *scene) string {
		p := s.shifts[metric]
		if !s.slower || !p.grows(aTwentieth) {
			return ""
		}
		return fmt.Sprintf("some of its threads waited for %s in %s of every second, %s alone", what, seconds(p.arm), seconds(p.against))
	}
}

func steals(s *scene) string {
	x := s.shifts[stolen]
	if !s.slower || !x.grows(aTwentieth) {
		return ""
	}
	return fmt.Sprintf("the hypervisor took %s a second of CPU time, against %s: part of the difference may be its doing", seconds(x.arm), seconds(x.against))
}

// grows says that more is shown, by at least this many seconds a second.
func (x shift) grows(by float64) bool { return x.more && x.arm-x.against >= by }

// has says that a mechanism is among those of the arm, at whatever level.
func (s *scene) has(name string) bool { return slices.Contains(s.names(), name) }

// only says that the arm has mechanisms, and none but these.
func (s *scene) only(names ...string) bool {
	own := s.names()
	return len(own) > 0 && !slices.ContainsFunc(own, func(n string) bool { return !slices.Contains(names, n) })
}

func (s *scene) names() []string {
	var all []string
	for _, text := range s.m.arm(s.arm).Isolation {
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
