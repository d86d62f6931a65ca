package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
)

// Pinned is a thread that may use only some CPUs, set by taskset, by CPUAffinity= of its unit
// or by itself. When the cpuset controller of version 2 is enabled or disabled for the children
// of a group, the kernel moves every thread of the children to another cpuset, and before Linux
// 6.2 it then lets them use all CPUs. Those threads are not tare's, so tare restores their
// CPUs.
type Pinned struct {
	TID int `json:"tid"`
	// Start is field 22 of the thread's stat, in clock ticks since boot: a later thread may
	// have the same id.
	Start uint64 `json:"start_ticks"`
	CPUs  []int  `json:"cpus"`
}

const cpusetName = "cpuset"

// pinnedBelow are the pinned threads in the children of a group, and in the group itself unless
// it is the root, whose threads are not moved. tare's own groups are left out.
func pinnedBelow(root proc.FS, base string) ([]Pinned, error) {
	text, err := readFile(filepath.Join(base, "cpuset.cpus.effective"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // no cpuset controller
	}
	if err != nil {
		return nil, err
	}
	whole, err := cpuset.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("CPUs of %s: %w", base, err)
	}
	var all []Pinned
	err = walk(base, func(dir string) error {
		if tareOwn(strings.TrimPrefix(dir, base)) || dir == base && !exists(filepath.Join(dir, "cgroup.type")) {
			return nil
		}
		tids, err := readPids(filepath.Join(dir, "cgroup.threads"))
		if errors.Is(err, unix.EOPNOTSUPP) {
			return nil // a group without tasks of its own
		}
		for _, tid := range tids {
			if p, ok := pinned(root, tid, whole); ok {
				all = append(all, p)
			}
		}
		return err
	})
	return all, err
}

// pinned is a thread with its present CPUs; false: it may use the whole set, or has ended.
func pinned(root proc.FS, tid int, whole cpuset.CPUSet) (Pinned, bool) {
	cpus, err := sched.CPUs(tid)
	if err != nil || whole.IsSubsetOf(cpuset.New(cpus...)) {
		return Pinned{}, false
	}
	p, err := root.Process(tid)
	return Pinned{TID: tid, Start: p.Start, CPUs: cpus}, err == nil
}

// pinAgain restores the CPUs of threads that still exist.
func pinAgain(root proc.FS, all []Pinned) error {
	var errs []error
	for _, p := range all {
		is, err := root.Process(p.TID)
		if err != nil || is.Start != p.Start {
			continue // it has ended
		}
		if now, err := sched.CPUs(p.TID); err != nil || slices.Equal(now, p.CPUs) {
			continue
		}
		var set unix.CPUSet
		for _, c := range p.CPUs {
			set.Set(c)
		}
		if err := unix.SchedSetaffinity(p.TID, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("keep thread %d to CPU %s again: %w", p.TID, cpuset.New(p.CPUs...), err))
		}
	}
	return errors.Join(errs...)
}

// loosened are the threads of all that may use the whole set now.
func loosened(root proc.FS, base string, all []Pinned) ([]Pinned, error) {
	if len(all) == 0 {
		return nil, nil
	}
	still, err := pinnedBelow(root, base)
	return slices.DeleteFunc(slices.Clone(all), func(p Pinned) bool {
		return slices.ContainsFunc(still, func(s Pinned) bool { return s.TID == p.TID })
	}), err
}
