package analysis

import "fmt"

// Findings of the probes. w is the wait for a CPU, n the neighbour's CPU time, both per second.

func saysWaiting(w, n delta) string {
	return fmt.Sprintf("its threads waited %s a second for a CPU, %s alone; the neighbour took %s",
		seconds(w.arm), seconds(w.against), cpus(n.arm))
}

func saysPinned(w, n delta) string {
	return fmt.Sprintf("slower than without isolation although the neighbour took no more CPU time (%s, %s without): "+
		"its whole weight counts on the CPUs that it is kept on, and threads that happen to be there waited %s a second for their turn, %s without",
		cpus(n.arm), cpus(n.against), seconds(w.arm), seconds(w.against))
}

func saysWaitsLonger(w, n delta) string {
	return fmt.Sprintf("slower than without isolation: its threads waited %s a second for a CPU, %s without; the neighbour took %s, %s without",
		seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
}

func saysPriority(w, n delta) string {
	return fmt.Sprintf("changes nothing that shows: threads waited %s a second for a CPU, %s without, and the neighbour took %s, %s without. "+
		"It ranks threads within one cpu group, and the neighbour has a group of its own",
		seconds(w.arm), seconds(w.against), cpus(n.arm), cpus(n.against))
}

func saysFewerCPUs(w, n delta) string {
	return fmt.Sprintf("keeps the workload from the neighbour's CPUs, too: on those that it has left its threads waited %s a second for a turn, %s without isolation; the neighbour took %s",
		seconds(w.arm), seconds(w.against), cpus(n.arm))
}

func saysMoved(m delta) string {
	return fmt.Sprintf("its threads were moved to another CPU %s times an operation, %s without isolation", figure(m.arm), figure(m.against))
}

func saysPreempted(p delta) string {
	return fmt.Sprintf("its threads were taken off their CPU %s times an operation, %s without isolation", figure(p.arm), figure(p.against))
}

func saysThrottled(t delta) string {
	return fmt.Sprintf("its own CPU quota held it back for %s a second, %s without isolation", seconds(t.arm), seconds(t.against))
}

func saysDearer(c delta) string {
	return fmt.Sprintf("an operation took %s of CPU time, %s alone: what the two share beside the CPUs' time (caches, memory bandwidth, a core's other thread) costs, and no share of time gives that back",
		seconds(c.arm), seconds(c.against))
}

func saysStalled(on string, p delta) string {
	return fmt.Sprintf("some of its threads waited for %s in %s of every second, %s alone", on, seconds(p.arm), seconds(p.against))
}

func saysStolen(x delta) string {
	return fmt.Sprintf("the hypervisor took %s a second of CPU time, against %s: part of the difference may be its doing", seconds(x.arm), seconds(x.against))
}

// Differences between the two modes of an arm: the value in the slower mode, then that in the
// faster.
const (
	modeThrottled = "its CPU quota held it back for %s a second (%s in the faster)"
	modeWaiting   = "its threads waited %s a second for a CPU (%s in the faster)"
	modeStolen    = "the hypervisor took %s of CPU time a second (%s in the faster)"
	modeForeign   = "others on the host used %s of CPU time a second (%s in the faster)"
	modeNeighbour = "the neighbour used %s of CPU time a second (%s in the faster)"
	modeDisks     = "some of its threads waited for disks in %s of every second (%s in the faster)"
	modeMemory    = "some of its threads waited for memory in %s of every second (%s in the faster)"
	modeDearer    = "an operation took %s of CPU time (%s in the faster): the clock, caches, or what shares the core"
	modeMoved     = "its threads were moved to another CPU %s times an operation (%s in the faster)"
	modePreempted = "its threads were taken off their CPU %s times an operation (%s in the faster)"
	modePagesRead = "%s pages an operation were read from a disk (%s in the faster)"
	modeFewerCPUs = "it used %s of CPU time a second (%s in the faster): it was kept from CPUs, or from work, by what no probe counts"
)

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
