// Package gvisor is the environment of a container with gVisor: runsc runs the load on a kernel in
// user space (the sentry), which is one process on the host, in the arm's group. The load shares
// its counters with tare, and the freezer stops the sentry. Probes see what the sentry does on the
// host; they see nothing behind it.
package gvisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// Container is the environment.
type Container struct{}

var _ environment.Environment = Container{}

// runtime is gVisor's program.
const runtime = "runsc"

// Name is the word for it on the command line and in the record.
func (Container) Name() string { return "gvisor" }

// Title is one line for people.
func (Container) Title() record.Said { return record.Say("arm_gvisor") }

// Support says whether this host and user can have it.
func (Container) Support(h facts.Host) facts.Support {
	path, err := exec.LookPath(runtime)
	if err != nil {
		return facts.Unsupported(record.Say("not_installed", "name", runtime), record.Say("install_runsc"))
	}
	if !passesFiles(path) {
		return facts.Unsupported(record.Say("runtime_too_old", "name", runtime), record.Say("install_runsc"))
	}
	if !h.Root {
		return facts.Unsupported(record.Say("runtime_needs_root", "name", runtime), facts.AsRoot())
	}
	if h.Groups == nil {
		return h.NoGroups
	}
	return h.Has(facts.FeatureOverlay)
}

// passesFiles says whether runsc can pass descriptors to the container, as the counters need.
func passesFiles(path string) bool {
	help, _ := exec.Command(path, "run", "--help").CombinedOutput() // its exit code says nothing
	return bytes.Contains(help, []byte("-pass-fd"))
}

// Capabilities: no options behind the name, and the settings of a container that refuses lets pass.
func (Container) Capabilities() environment.Capabilities {
	return environment.Capabilities{Refuses: refuses, Grouped: true, Container: true}
}

// refuses returns which choice has no effect behind the sentry.
func refuses(c environment.Container) error {
	word := ""
	switch {
	case c.Seccomp != "" && c.Seccomp != environment.Default:
		word = "seccomp=" + c.Seccomp
	case c.Profile() != "":
		word = "apparmor=" + c.AppArmor
	case c.Image != "":
		word = "image=" + c.Image
	default:
		return nil
	}
	return hint.New(fmt.Errorf("%w: gvisor cannot have %s: its kernel is between the process and the host's", facts.ErrUnsupported, word),
		"leave it out, or take container")
}

// Changes lists the changes that Open and Start make on the host.
func (c Container) Changes(s environment.Spec) []facts.Change {
	groups, err := launch.ContainerGroups(s.Groups, "gvisor")
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		facts.Changed(messages.Say("change.sandbox", "name", launch.ContainerID(s, 1)), messages.Say("change.madeby.group", "name", runtime)),
		facts.Changed(messages.Say("change.overlay"), messages.Say("change.overlay.own", "name", runtime), messages.Say("change.unseen")),
	)
	if s.Port != 0 {
		out = append(out, launch.NetworkChanges(s, true)...)
	}
	return out
}

// Programs is the path of runsc.
func (Container) Programs() []string {
	path, err := exec.LookPath(runtime)
	if err != nil {
		return nil
	}
	return []string{path}
}

// Open makes the arm. Start makes the sandbox.
func (c Container) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Name(), err)
	}
	return a, nil
}

func open(ctx context.Context, spec environment.Spec) (*arm, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: %s needs root here", facts.ErrUnsupported, runtime)
	}
	path, err := exec.LookPath(runtime)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; apt install runsc", facts.ErrUnsupported, err)
	}
	if err := refuses(spec.Container); err != nil {
		return nil, err
	}
	groups, err := launch.ContainerGroups(spec.Groups, "gvisor")
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
