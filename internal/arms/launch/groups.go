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
)

// Groups is how the groups of an arm are made.
type Groups struct {
	Tree *cgroup.Tree // nil: none
	// Controllers of the arm's own group; none makes it a plain one.
	Controllers []string
	Limits      cgroup.Limits
	// TopLevel makes one group, at the top beside the groups of all arms and not among them:
	// weights and cpu.idle count among siblings, and the sibling of a host arm's
	// processes is a group at the top.
	TopLevel bool
}

// NeededControllers are those without which a group is no container's.
func NeededControllers() []string { return []string{"cpu", "memory"} }

// otherControllers are taken where they exist.
func otherControllers() []string { return []string{"cpuacct", "pids", "blkio", "cpuset"} }

// PlainGroups only freeze and observe; without a Tree where this host and user
// can have none. t may be nil.
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

// AmpleGroups have a container's controllers and limits that nobody reaches.
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

// ContainerGroups are AmpleGroups for who makes a container ("an engine"), which
// none does without control groups. With version 2 runc and crun enable every
// controller there is, from the root group down to the container's, and leave them
// enabled: they are tare's to enable first, and to take back.
func ContainerGroups(t *cgroup.Tree, who string) (Groups, error) {
	g, err := AmpleGroups(t)
	if err == nil && g.Tree == nil {
		err = fmt.Errorf("%s makes no container without control groups", who)
	}
	if err != nil {
		return g, fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
	}
	if g.Tree.Layout == cgroup.V2 {
		for _, c := range g.Tree.V2Controllers {
			if c != "io" && !slices.Contains(g.Controllers, c) { // under its name of version 1 already
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

// CgroupMounts are the mount points of all hierarchies of version 1, those
// without controllers too: a runtime makes groups in each.
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

// path is the arm's own group.
func (g Groups) path(s environment.Spec) string {
	if g.TopLevel {
		return "tare-" + s.Run + "-" + s.Arm
	}
	return filepath.Join("tare-"+s.Run, s.Arm)
}

// outside is the group of what runs beside the arm.
func (g Groups) outside(s environment.Spec) string { return g.path(s) + "-outside" }

// ContainerID is the id of the n-th container of an arm.
func ContainerID(s environment.Spec, n int) string {
	return fmt.Sprintf("tare-%s-%s-%d", s.Run, s.Arm, n)
}
