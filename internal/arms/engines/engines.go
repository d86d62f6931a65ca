// Package engines is the environment of a container that Docker or Podman makes. The container's
// first process is tare's binary: it receives descriptors over a socket and becomes the load, so
// that the load is the very process that the engine started. Root file system, data, groups and
// network are those of the ladder, and the engine adds the rest.
package engines

import (
	"cmp"
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
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/record"
)

// Kind is one engine.
type Kind int

// The engines.
const (
	Docker Kind = iota
	Podman
)

var _ environment.Environment = Docker

// Name is the word for it on the command line and in the record.
func (k Kind) Name() string { return [...]string{"docker", "podman"}[k] }

// Title is one line for people.
func (k Kind) Title() record.Said {
	return record.Say([...]string{"arm_docker", "arm_podman"}[k])
}

// feature is the feature of facts.Host that says whether the engine can be had.
func (k Kind) feature() string {
	return [...]string{facts.FeatureDocker, facts.FeaturePodman}[k]
}

// Support says whether this host and user can have it.
func (k Kind) Support(h facts.Host) facts.Support {
	if !h.Root {
		return k.ownSupport(h)
	}
	if s := h.Has(k.feature()); s.Answer != facts.Yes {
		return s
	}
	if h.Groups == nil {
		return h.NoGroups
	}
	return h.Has(facts.FeatureOverlay)
}

// Capabilities: no options behind the name, and the settings of a container that refuses lets pass.
func (k Kind) Capabilities() environment.Capabilities {
	return environment.Capabilities{With: k.with, Refuses: refuses, Grouped: true, Container: true, Networks: true, Images: true}
}

// with refuses all options.
func (k Kind) with(string) (environment.Environment, error) {
	return nil, errors.New("it has no levels")
}

// Check looks for the AppArmor profile in the kernel and for the image in root's engine.
func (k Kind) Check(ctx context.Context, c environment.Container) error {
	if err := launch.CheckProfile("/", c); err != nil {
		return err
	}
	if c.Image == "" || os.Geteuid() != 0 {
		return nil
	}
	e, err := k.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return k.checkImage(ctx, e, c.Image)
}

// Changes lists the changes that Open and Start make on the host.
func (k Kind) Changes(s environment.Spec) []facts.Change {
	if os.Geteuid() != 0 {
		return k.ownChanges(s)
	}
	groups, err := launch.ContainerGroups(s.Groups, "an engine")
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		facts.Changed(messages.Say("change.container", "name", nameOf(s)), messages.Say("change.madeby.label", "name", k.Name(), "label", engine.OwnerLabel+"="+s.Run)),
	)
	if s.Container.Image == "" {
		out = append(out, facts.Changed(messages.Say("change.overlay"), messages.Say("change.overlay.engine", "name", k.Name())))
	}
	if k == Docker && s.Container.Image == "" {
		out = append(out, facts.Changed(messages.Say("change.image", "name", "tare-root:"+nameOf(s)), messages.Say("change.image.links")))
	}
	switch {
	case s.Port == 0:
	case s.Container.Network == environment.NetworkEngine:
		out = append(out, k.networkChange())
	default:
		out = append(out, launch.NetworkChanges(s, true)...)
	}
	return out
}

// helpers are directories of programs that an engine starts without looking into PATH.
var helpers = []string{"/usr/lib/podman", "/usr/libexec/podman", "/usr/libexec/docker"}

// Programs are the engine's programs on this host and those that it starts for a container.
func (k Kind) Programs() (all []string) {
	names := [...][]string{
		{"docker", "dockerd", "containerd", "containerd-shim-runc-v2", "runc", "crun", "docker-proxy"},
		{"podman", "conmon", "runc", "crun", "netavark", "slirp4netns", "pasta", "rootlessport"},
	}[k]
	for _, name := range names {
		path, err := exec.LookPath(name)
		for _, dir := range helpers {
			if err != nil {
				path, err = exec.LookPath(filepath.Join(dir, name))
			}
		}
		if err == nil {
			all = append(all, path)
		}
	}
	return all
}

func nameOf(s environment.Spec) string { return "tare-" + s.Run + "-" + s.Arm }

// Open makes the arm and its container. Start starts the container.
func (k Kind) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := k.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", k.Name(), err)
	}
	return a, nil
}

func (k Kind) open(ctx context.Context, spec environment.Spec) (*arm, error) {
	user := ""
	groups, err := launch.ContainerGroups(spec.Groups, "an engine")
	if os.Geteuid() != 0 {
		if k == Docker {
			return nil, fmt.Errorf("%w: the root file system of the container needs root", facts.ErrUnsupported)
		}
		asked := spec.Container
		if spec.Port != 0 {
			asked.Network = cmp.Or(asked.Network, environment.NetworkPublished)
		}
		if err := refuses(asked); err != nil {
			return nil, fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
		}
		user = userName()
		groups, err = ownGroups(spec.Groups)
	}
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, err
	}
	a := &arm{Sandbox: sandbox, kind: k, user: user}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}

// client finds root's engine.
func (k Kind) client() (engine.Engine, error) {
	if k == Docker {
		return engine.NewDocker("")
	}
	path, err := podmanPath()
	return engine.NewPodman(path), err
}

// connect finds root's engine for an arm.
func (a *arm) connect() (engine.Engine, error) {
	p, err := a.kind.client()
	if err != nil || a.kind == Docker {
		return p, err
	}
	if a.Group.Tree.Layout == cgroup.Hybrid {
		// crun fails on a host where version 2 has controllers beside version 1.
		if runc, err := exec.LookPath("runc"); err == nil {
			p.Runtime = runc
		}
	}
	return p, nil
}

func podmanPath() (string, error) {
	path, err := exec.LookPath("podman")
	if err != nil {
		return "", fmt.Errorf("%w: %w; apt install podman", facts.ErrUnsupported, err)
	}
	return filepath.Abs(path)
}
