package analysis

import "github.com/tarelab/tare/record"

// Findings of the probes. w is the wait for a CPU, n the neighbour's CPU time, both per second.

func saysWaiting(w, n delta) record.Said {
	return record.Say("waiting_beside", "wait", w.arm, "wait_alone", w.against, "neighbour", n.arm)
}

func saysPinned(w, n delta) record.Said {
	return record.Say("pinned_weight", "neighbour", n.arm, "neighbour_without", n.against, "wait", w.arm, "wait_without", w.against)
}

func saysWaitsLonger(w, n delta) record.Said {
	return record.Say("waits_longer", "wait", w.arm, "wait_without", w.against, "neighbour", n.arm, "neighbour_without", n.against)
}

func saysPriority(w, n delta) record.Said {
	return record.Say("priority_in_group", "wait", w.arm, "wait_without", w.against, "neighbour", n.arm, "neighbour_without", n.against)
}

func saysFewerCPUs(w, n delta) record.Said {
	return record.Say("fewer_cpus_left", "wait", w.arm, "wait_without", w.against, "neighbour", n.arm)
}
