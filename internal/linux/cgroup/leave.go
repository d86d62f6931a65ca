package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/tarelab/tare/internal/linux/proc"
)

// Leave moves a process out of its groups in all hierarchies, also those without controllers:
// to the root of each, or to the group of process 1 if the root takes no process (on a node
// that is a container itself). It needs root.
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
		if m.Root != "/" { // shows a part only; another mount shows the whole
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

// groupIn is the group in the hierarchy of a mount, out of a process's groups.
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
