package launch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Groups describes the control groups of an arm.
type Groups struct {
	Tree *cgroup.Tree // nil: the arm has no groups
	// Controllers of the arm's own group; a group without any freezes and observes.
	Controllers []string
	Limits      cgroup.Limits
	// Service says that these are ServiceGroups with controllers.
	Service bool
	// TopLevel makes one group at the top of the tree instead of two, of which the upper one is
	// the parent. Weights and cpu.idle compare siblings, and a neighbour has to be a sibling of the
	// host's processes.
	TopLevel bool
}

// NeededControllers are the controllers that every container's group has.
func NeededControllers() []string { return []string{"cpu", "memory"} }

// otherControllers are added where they exist.
func otherControllers() []string { return []string{"cpuacct", "pids", "blkio", "cpuset"} }

// PlainGroups freeze and observe, and have no controllers. The Tree is nil where this host or
// user can make no groups. t may be nil.
func PlainGroups(t *cgroup.Tree) (Groups, error) {
	t, err := detect(t)
	if err != nil {
		return Groups{}, err
	}
	if t.Can() != nil {
		return Groups{}, nil
	}
	return Groups{Tree: t}, nil
}

// ServiceGroups are those that a service of this host has: two deep, of the default weight, with the controllers
// of the host's services, and without limits but that of processes, which containers have too. They are
// PlainGroups where this user cannot enable a controller.
func ServiceGroups(t *cgroup.Tree) (Groups, error) {
	g, err := PlainGroups(t)
	if err != nil || g.Tree == nil || g.Tree.CanEnable() != nil {
		return g, err
	}
	g.Controllers = g.Tree.ServiceControllers()
	g.Service = len(g.Controllers) > 0
	if slices.Contains(g.Controllers, "pids") {
		ample, err := g.Tree.Ample()
		if err != nil {
			return g, err
		}
		g.Limits.Pids = ample.Pids
	}
	return g, nil
}

// RunsAs is record.Arm.RunsAs of an arm with ServiceGroups. t is facts.Host.Groups, and may be nil.
func RunsAs(t *cgroup.Tree) string {
	if t == nil {
		return record.AsSession
	}
	if g, err := ServiceGroups(t); err != nil || !g.Service {
		return record.AsSession
	}
	return record.AsService
}

// AmpleGroups have the controllers of a container and limits that no load reaches.
func AmpleGroups(t *cgroup.Tree) (Groups, error) {
	t, err := detect(t)
	if err != nil {
		return Groups{}, err
	}
	if err := errors.Join(t.Can(), t.Can(NeededControllers()...)); err != nil {
		return Groups{}, err
	}
	g := Groups{Tree: t, Controllers: NeededControllers()}
	for _, c := range otherControllers() {
		if t.Can(c) == nil {
			g.Controllers = append(g.Controllers, c)
		}
	}
	g.Limits, err = t.Ample()
	return g, err
}

// ContainerGroups are AmpleGroups for a runtime or an engine, which maker names in the error
// where there are no control groups. With version 2, runc and crun enable all controllers from
// the root group down to the container's group and leave them enabled; tare enables them first,
// so that it can disable them again.
func ContainerGroups(t *cgroup.Tree, maker string) (Groups, error) {
	g, err := AmpleGroups(t)
	if err == nil && g.Tree == nil {
		err = fmt.Errorf("%s makes no container without control groups", maker)
	}
	if err != nil {
		return g, fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
	}
	if g.Tree.Layout == cgroup.V2 {
		for _, c := range g.Tree.V2Controllers {
			if c != "io" && !slices.Contains(g.Controllers, c) { // io is in the list as blkio
				g.Controllers = append(g.Controllers, c)
			}
		}
	}
	return g, nil
}

func detect(t *cgroup.Tree) (*cgroup.Tree, error) {
	if t != nil {
		return t, nil
	}
	return cgroup.Detect("/")
}

// CgroupMounts are the mount points of all hierarchies of version 1, also of those without
// controllers: a runtime makes groups in each.
func CgroupMounts() ([]string, error) {
	all, err := proc.FS("/").Mounts()
	if err != nil {
		return nil, fmt.Errorf("find the control groups: %w", err)
	}
	var points []string
	for _, m := range all {
		if m.Type == "cgroup" {
			points = append(points, m.Point)
		}
	}
	return points, nil
}

// path is the path of the arm's group. A group with controllers has a parent of its own. The kernel
// divides the CPUs by running averages of the load of groups and of their parents, which fall during a
// pause. A shared parent hardly pauses, so that its arms would get other shares after a thaw than an
// arm with a parent of its own. With version 2 all groups below one have the same controllers, too.
func (g Groups) path(s environment.Spec) string {
	switch {
	case g.TopLevel:
		return "tare-" + s.Run + "-" + s.Arm
	case len(g.Controllers) > 0:
		return filepath.Join("tare-"+s.Run+"-"+s.Arm+cgroup.ParentSuffix, s.Arm)
	}
	return filepath.Join("tare-"+s.Run, s.Arm)
}

// outside is the path of the group for processes beside the arm. It has no controllers.
func outside(s environment.Spec) string { return filepath.Join("tare-"+s.Run, s.Arm+"-outside") }

// ContainerID is the id of the n-th container of an arm.
func ContainerID(s environment.Spec, n int) string {
	return fmt.Sprintf("tare-%s-%s-%d", s.Run, s.Arm, n)
}
