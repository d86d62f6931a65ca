package gvisor

import (
	"fmt"
	"os"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
)

// bundle has the values of a config.json.
type bundle struct {
	root      launch.RootDirs
	self      string // path of this binary on the host
	args, env []string
	network   specs.LinuxNamespace // an empty path makes a new namespace
	hosts     bool                 // the host's network instead
	powerless bool                 // no capabilities
}

func (a *arm) bundle(args, env []string) bundle {
	b := bundle{
		root: a.root, self: a.self, args: args, env: env,
		network: specs.LinuxNamespace{Type: specs.NetworkNamespace}, hosts: a.network() == networkHost,
		powerless: a.Spec.Container.Capabilities == environment.NoCapabilities,
	}
	if a.Net != nil {
		b.network.Path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), a.Net.Arm.Fd())
	}
	return b
}

// spec is the configuration that Docker writes for runsc, as far as the sentry reads it.
func (b bundle) spec() *specs.Spec {
	caps := launch.DockerCapabilities()
	if b.powerless {
		caps = []string{}
	}
	namespaces := []specs.LinuxNamespace{
		{Type: specs.MountNamespace}, {Type: specs.PIDNamespace}, {Type: specs.UTSNamespace}, {Type: specs.IPCNamespace},
	}
	if !b.hosts {
		namespaces = append(namespaces, b.network)
	}
	return &specs.Spec{
		Version:  launch.SpecVersion,
		Hostname: "container",
		Root:     &specs.Root{Path: b.root.Point},
		Process: &specs.Process{
			Args: append([]string{launch.Exe}, b.args...), Env: b.env, Cwd: launch.Volume,
			Capabilities: &specs.LinuxCapabilities{Bounding: caps, Effective: caps, Permitted: caps},
			Rlimits:      launch.OpenFiles(),
		},
		Mounts: append(append(launch.DockerMounts(), b.root.Binds()...),
			specs.Mount{Destination: launch.Exe, Type: "bind", Source: b.self, Options: []string{"bind", "ro", "rprivate"}}),
		Linux: &specs.Linux{
			Namespaces:  namespaces,
			MaskedPaths: launch.DockerMasked(), ReadonlyPaths: launch.DockerReadOnly(),
		},
	}
}
