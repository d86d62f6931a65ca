// Package ungrouped is a process of the host outside of all control groups with controllers: in the
// root group, in a session of its own. Against it the host, which is a service, shows what group
// scheduling and accounting take.
package ungrouped

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Process is the environment.
type Process struct{}

var _ environment.Environment = Process{}

// Name is the word for it on the command line and in the record.
func (Process) Name() string { return "ungrouped" }

// Title is one line for people.
func (Process) Title() record.Said { return record.Say("arm_root_group") }

// Capabilities: the root groups, and no options behind the name.
func (Process) Capabilities() environment.Capabilities {
	return environment.Capabilities{RunsAs: func(*cgroup.Tree) string { return record.AsProcess }}
}

// Support says whether this host and user can have it.
func (Process) Support(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_move"), facts.AsRoot())
	}
	return facts.Supported()
}

// Changes lists the changes that Open makes on the host.
func (Process) Changes(s environment.Spec) []facts.Change {
	groups, err := launch.PlainGroups(s.Groups)
	if err != nil {
		return nil
	}
	return launch.Changes(s, groups)
}

// Open makes the arm.
func (p Process) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name(), err)
	}
	return a, nil
}

func open(ctx context.Context, spec environment.Spec) (*arm, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: an ordinary user cannot move processes to the root group", facts.ErrUnsupported)
	}
	groups, err := launch.PlainGroups(spec.Groups)
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, err
	}
	a := &arm{Sandbox: sandbox, tree: groups.Tree}
	err = a.OpenWay(a.DataDir())
	if err == nil {
		err = a.FillVolume(ctx, a.DataDir())
	}
	if err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}

// arm is an opened Process. Its group has no controllers: it freezes and observes.
type arm struct {
	*launch.Sandbox
	tree *cgroup.Tree // nil: no groups can be made here, so its processes are in tare's

	inside launch.Slot
}

// Place has the volume.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.Volume, p.HostVolume = a.DataDir(), a.DataDir()
	return p
}

// Start starts a process in the arm or beside it.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	c := a.Inside(p)
	c.Leave, c.Request.Dir = a.tree, a.DataDir()
	return a.inside.Replace(func() (environment.Running, error) { return a.Sandbox.Start(ctx, c) })
}

// Settings reads back the sandbox and the process.
func (a *arm) Settings() ([]record.Setting, error) {
	all, err := a.Sandbox.Settings()
	its, readErr := a.inside.ReadBack(func() launch.Expect { return launch.Expect{Either: a.Spec.OwnMounts()} })
	return append(all, its...), errors.Join(err, readErr)
}
