package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/tarelab/tare/internal/linux/proc"
)

// Leave moves a process out of all its groups, also of hierarchies that have no
// controller: to the top of each, or, where the top takes none (a node that is
// a container itself), to where process 1 is. It needs root.
func (t *Tree) Leave(pid int) error {
	mounts, err := mountsIn(t.proc)
	if err != nil {
		return fmt.Errorf("find the control groups: %w", err)
	}
	first, err := t.proc.Cgroups("1")
	if err != nil {
		return fmt.Errorf("find the control groups of process 1: %w", err)
	}
	var errs []error
	for _, m := range mounts {
		if m.Root != "/" { // of a part: the whole is mounted too
			continue
		}
		top := t.proc.Path(m.Point)
		err := t.write(filepath.Join(top, "cgroup.procs"), strconv.Itoa(pid))
		if err != nil && t.write(filepath.Join(top, groupIn(m, first), "cgroup.procs"), strconv.Itoa(pid)) == nil {
			err = nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("leave the control groups at %s: %w", m.Point, err))
		}
	}
	return errors.Join(errs...)
}

// groupIn is the group in the hierarchy of a mount, of those of a process.
func groupIn(m proc.Mount, groups map[string]string) string {
	if m.Type == "cgroup2" {
		return groups[""]
	}
	for controller, group := range groups {
		if has(m, controller) {
			return group
		}
	}
	return ""
}
