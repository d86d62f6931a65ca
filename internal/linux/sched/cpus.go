package sched

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CPUs are the CPUs that a thread may use, ascending; tid 0 is the calling thread.
func CPUs(tid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return nil, fmt.Errorf("CPUs of thread %d: %w", tid, err)
	}
	var cpus []int
	for i, left := 0, set.Count(); left > 0; i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
			left--
		}
	}
	return cpus, nil
}
