// Package oci is the environment of a container that an OCI runtime, runc or crun, makes with
// Docker's default settings. Root file system, network and groups are those of the ladder's top
// rung, so that only the runtime differs. The package knows the runtime's configuration; package
// launch starts the processes.
package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// Container is the environment.
type Container struct {
	// Runtime is "runc", "crun" or a path; empty: the first of Runtimes that is installed.
	Runtime string
}

var _ environment.Environment = Container{}

// Runtimes are the runtimes in the order of preference.
func Runtimes() []string { return []string{"runc", "crun"} }

// Name is the word for it on the command line and in the record: the runtime's name if one is given.
func (c Container) Name() string {
	if c.Runtime != "" {
		return filepath.Base(c.Runtime)
	}
	return "container"
}

// Title is one line for people.
func (c Container) Title() record.Said {
	if c.Runtime != "" {
		return record.Say("arm_runtime", "runtime", c.Runtime)
	}
	return record.Say("arm_container")
}

// Capabilities: control groups and every setting of a container; no options behind the name.
func (Container) Capabilities() environment.Capabilities {
	return environment.Capabilities{Grouped: true, Container: true}
}

// Support says whether this host and user can have it.
func (c Container) Support(h facts.Host) facts.Support {
	if c.Runtime != "" {
		if _, err := exec.LookPath(c.Runtime); err != nil {
			return facts.Uninstalled(c.Runtime, "apt install "+c.Runtime)
		}
	}
	if h.Groups == nil {
		return h.NoGroups
	}
	for _, f := range []string{facts.FeatureContainer, facts.FeatureOverlay, facts.FeatureSeccomp} {
		if s := h.Has(f); s.Answer != facts.Yes {
			return s
		}
	}
	return facts.Supported()
}

// Check looks for the AppArmor profile.
func (Container) Check(_ context.Context, c environment.Container) error {
	return launch.CheckProfile("/", c)
}

// Changes lists the changes that Open and Start make on the host.
func (c Container) Changes(s environment.Spec) []facts.Change {
	groups, err := launch.ContainerGroups(s.Groups, "a runtime")
	if err != nil {
		return nil
	}
	path, err := c.path()
	if err != nil {
		path = "runc"
	}
	out := launch.Changes(s, groups)
	out = append(out,
		facts.Changed(messages.Say("change.container", "name", launch.ContainerID(s, 1)), messages.Say("change.madeby.state", "name", path)),
		facts.Changed(messages.Say("change.overlay"), messages.Say("change.overlay.oci"), messages.Say("change.unseen")),
	)
	if s.Port != 0 {
		out = append(out, launch.NetworkChanges(s, true)...)
	}
	return out
}

// path finds the runtime.
func (c Container) path() (string, error) {
	names := Runtimes()
	if c.Runtime != "" {
		names = []string{c.Runtime}
	}
	var errs []error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("%w: no OCI runtime: %w; apt install runc", facts.ErrUnsupported, errors.Join(errs...))
}

// Programs is the path of the runtime.
func (c Container) Programs() []string {
	path, err := c.path()
	if err != nil {
		return nil
	}
	return []string{path}
}

// Open makes the arm. Start makes the container.
func (c Container) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := c.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name(), err)
	}
	return a, nil
}

func (c Container) open(ctx context.Context, spec environment.Spec) (_ *arm, err error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: an OCI runtime needs root here", facts.ErrUnsupported)
	}
	path, err := c.path()
	if err != nil {
		return nil, err
	}
	groups, err := launch.ContainerGroups(spec.Groups, "a runtime")
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, err
	}
	a := &arm{Sandbox: sandbox, runtime: path}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}
