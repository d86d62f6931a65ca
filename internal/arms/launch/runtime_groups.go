package launch

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// RecordRuntimeGroups writes the groups to the journal that a runtime makes in hierarchies of
// version 1 where the arm has none. The runtime removes these groups and not their parents.
func (g *Sandbox) RecordRuntimeGroups() error {
	plan, err := g.runtimeGroups()
	if err != nil || len(plan.Dirs) == 0 {
		return err
	}
	return g.Record(steps.Group{Plan: plan}, func() error { return cgroup.Undo(plan) })
}

// runtimeGroups are those groups and their parents.
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

// Adopt moves a process that a runtime started below the arm's group into the hierarchy that the
// runtime does not use, version 2 beside version 1, and reads back all hierarchies.
func (g *Sandbox) Adopt(pid int) error {
	m := membershipOf(g.Group)
	m.Below = true
	if m.check(strconv.Itoa(pid)) == nil {
		return nil
	}
	outside := g.Group
	outside.Dirs = map[string]string{cgroup.Unified: g.Group.Dirs[cgroup.Unified]}
	if outside.Dirs[cgroup.Unified] != "" {
		if err := outside.Add(pid); err != nil {
			return err
		}
	}
	return m.check(strconv.Itoa(pid))
}

// MoveInto moves a process that an engine started elsewhere into the arm's groups and reads that back.
func (g *Sandbox) MoveInto(pid int) error {
	if len(g.Group.Dirs) == 0 {
		return nil
	}
	if err := g.Group.Add(pid); err != nil {
		return err
	}
	return membershipOf(g.Group).check(strconv.Itoa(pid))
}

// GroupPath is the path of the arm's group below the mount points, as runtimes name it.
func (g *Sandbox) GroupPath() string {
	for c, point := range g.Group.Tree.V1 {
		if dir := g.Group.Dirs[c]; dir != "" {
			return "/" + strings.Trim(strings.TrimPrefix(dir, point), "/")
		}
	}
	return "/" + strings.Trim(strings.TrimPrefix(g.Group.Dirs[cgroup.Unified], g.Group.Tree.V2), "/")
}
