package launch

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// RecordRuntimeGroups journals the groups that a runtime makes beside ours, in
// every hierarchy of version 1, and leaves its parents of.
func (g *Sandbox) RecordRuntimeGroups() error {
	plan, err := g.runtimeGroups()
	if err != nil || len(plan.Dirs) == 0 {
		return err
	}
	return g.Record(steps.Group{Plan: plan}, func() error { return cgroup.Undo(plan) })
}

func (g *Sandbox) runtimeGroups() (cgroup.Plan, error) {
	points, err := CgroupMounts()
	if err != nil {
		return cgroup.Plan{}, err
	}
	var plan cgroup.Plan
	own := map[string]bool{}
	for _, dir := range g.Group.Dirs {
		own[dir] = true
	}
	for _, point := range points {
		if dir := filepath.Join(point, g.GroupPath()); !own[dir] {
			plan.Dirs = append(plan.Dirs, filepath.Dir(dir), dir)
		}
	}
	return plan, nil
}

// Adopt puts a process that a runtime started in a group below the arm's into
// those hierarchies of the arm's that the runtime knows nothing of: version 2
// beside version 1. It reads back that the process is in all of them.
func (g *Sandbox) Adopt(pid int) error {
	file := fmt.Sprintf("/proc/%d/cgroup", pid)
	m := membershipOf(g.Group)
	m.Below = true
	if m.check(file) == nil {
		return nil
	}
	outside := g.Group
	outside.Dirs = map[string]string{cgroup.Unified: g.Group.Dirs[cgroup.Unified]}
	if outside.Dirs[cgroup.Unified] != "" {
		if err := outside.Add(pid); err != nil {
			return err
		}
	}
	return m.check(file)
}

// Take puts a process that an engine started into the arm's own groups, from
// wherever the engine has it, and reads that back.
func (g *Sandbox) Take(pid int) error {
	if len(g.Group.Dirs) == 0 {
		return nil
	}
	if err := g.Group.Add(pid); err != nil {
		return err
	}
	return membershipOf(g.Group).check(fmt.Sprintf("/proc/%d/cgroup", pid))
}

// GroupPath is the group as a runtime counts: below the mount points.
func (g *Sandbox) GroupPath() string {
	for c, point := range g.Group.Tree.V1 {
		if dir := g.Group.Dirs[c]; dir != "" {
			return "/" + strings.Trim(strings.TrimPrefix(dir, point), "/")
		}
	}
	return "/" + strings.Trim(strings.TrimPrefix(g.Group.Dirs[cgroup.Unified], g.Group.Tree.V2), "/")
}
