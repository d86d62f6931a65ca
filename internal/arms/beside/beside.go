// Package beside is the environment of a neighbour for which the experiment names none: on the
// host, in a group with limits, as the user nobody. It does not know the arm that the neighbour
// disturbs.
package beside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Host is the environment.
type Host struct{}

var _ environment.Environment = Host{}

// Name is the word for it in the record.
func (Host) Name() string { return "host" }

// Title is one line for people.
func (Host) Title() record.Said { return record.Say("arm_nobody") }

// Capabilities are none.
func (Host) Capabilities() environment.Capabilities { return environment.Capabilities{} }

// Support says whether this host and user can make a group with limits.
func (Host) Support(h facts.Host) facts.Support {
	return h.GroupsCan("memory", "pids")
}

// groups is the neighbour's group. It has controllers for its limits and for the isolation of its
// arm, and, where they exist, controllers that count what the neighbour uses.
func groups(t *cgroup.Tree, n environment.Neighbour) (launch.Groups, error) {
	g, err := launch.PlainGroups(t)
	if err == nil && g.Tree == nil {
		err = fmt.Errorf("%w: a neighbour needs a control group", facts.ErrUnsupported)
	}
	if err != nil {
		return g, err
	}
	g.TopLevel, g.Limits, g.Controllers = true, n.Limits, []string{"memory", "pids"}
	g.Limits.Swap = g.Limits.Memory // as Docker and Podman do
	for _, c := range n.Controllers {
		if !slices.Contains(g.Controllers, c) {
			g.Controllers = append(g.Controllers, c)
		}
	}
	if err := g.Tree.Can(g.Controllers...); err != nil {
		return g, fmt.Errorf("%w: the neighbour's group: %w", facts.ErrUnsupported, err)
	}
	optional := []string{"cpuacct", "blkio"}
	if n.Grouped {
		optional = append(optional, "cpu")
	}
	if n.Service {
		optional = append(optional, g.Tree.ServiceControllers()...)
	}
	for _, c := range optional {
		if !slices.Contains(g.Controllers, c) && g.Tree.Can(c) == nil {
			g.Controllers = append(g.Controllers, c)
		}
	}
	return g, nil
}

// Changes lists the changes that Open makes.
func (Host) Changes(s environment.Spec) []facts.Change {
	g, err := groups(s.Groups, *s.Neighbour)
	if err != nil {
		return nil
	}
	return launch.Changes(s, g)
}

// Open makes the group and a directory that belongs to the user nobody, with a copy of the data set
// if there is one.
func (Host) Open(ctx context.Context, spec environment.Spec) (_ environment.OpenArm, err error) {
	n := spec.Neighbour
	if n == nil || n.Limits.Memory == 0 || n.Limits.Pids == 0 || n.Time <= 0 {
		return nil, errors.New("a neighbour needs limits of memory, processes and time")
	}
	g, err := groups(spec.Groups, *n)
	if err != nil {
		return nil, err
	}
	a := &arm{}
	if a.Sandbox, err = launch.NewSandbox(spec, g); err != nil {
		return nil, err
	}
	a.data = filepath.Join(a.Dir, "data")
	err = os.Chmod(a.Dir, 0o711)
	if err == nil {
		err = a.FillVolume(ctx, a.data)
	}
	if err == nil {
		err = os.Chmod(a.data, 0o700) // the copy has the mode of the data set
	}
	if err == nil && os.Geteuid() == 0 {
		err = clonetree.GiveAll(a.data, launch.NobodyUID, launch.NobodyGID)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the neighbour's directory: %w", err), a.Close())
	}
	return a, nil
}

// arm is an opened Host.
type arm struct {
	*launch.Sandbox
	data string
}

// Place has the data directory and the group.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume = a.data, a.data
	return p
}

// Settings reads back the limits that protect the host. Each isolation mechanism reads back its own
// settings.
func (a *arm) Settings() ([]record.Setting, error) {
	safety := a.Group
	safety.Controllers = []string{"memory", "pids"}
	limits, err := safety.Check(a.Limits)
	return append([]record.Setting{{Name: "cgroup", Got: a.Group.Path}}, limits...), err
}

// Start starts the neighbour.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return nil, fmt.Errorf("%w: a neighbour has nothing beside it", facts.ErrUnsupported)
	}
	c := launch.Inside(p)
	c.Group, c.Request.Dir, c.Request.Nobody = a.Group, a.data, launch.AsNobody(a.Spec.Neighbour.Time)
	started, err := a.Sandbox.Start(ctx, c)
	if errors.Is(err, unix.EACCES) && os.Geteuid() == 0 {
		return nil, fmt.Errorf("start the neighbour: %w (this binary must be executable for everybody: chmod o+rx)", err)
	}
	if err != nil {
		return nil, err
	}
	return running{started, a.Group}, nil
}

// running is the neighbour's process with its descendants.
type running struct {
	environment.Running
	group cgroup.Group
}

// Kill ends the process and all others in the group.
func (r running) Kill() error { return errors.Join(r.Running.Kill(), r.group.Kill()) }
