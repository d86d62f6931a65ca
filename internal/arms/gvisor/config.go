package gvisor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
)

// specVersion is what runsc takes since its first releases.
const specVersion = "1.0.2"

// bundle is what a config.json is made of.
type bundle struct {
	root      launch.RootDirs
	self      string // path of this binary on the host
	args, env []string
	network   specs.LinuxNamespace // its path is empty: a new one
	hosts     bool                 // the host's network instead
	powerless bool
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

// spec is what Docker would write for runsc, as far as the sentry reads it.
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
		Version:  specVersion,
		Hostname: "container",
		Root:     &specs.Root{Path: b.root.Point},
		Process: &specs.Process{
			Args: append([]string{launch.Exe}, b.args...), Env: b.env, Cwd: launch.Volume,
			Capabilities: &specs.LinuxCapabilities{Bounding: caps, Effective: caps, Permitted: caps},
			Rlimits:      openFiles(),
		},
		Mounts: append(append(launch.DockerMounts(), b.root.Binds()...),
			specs.Mount{Destination: launch.Exe, Type: "bind", Source: b.self, Options: []string{"bind", "ro", "rprivate"}}),
		Linux: &specs.Linux{
			Namespaces:  namespaces,
			MaskedPaths: launch.DockerMasked(), ReadonlyPaths: launch.DockerReadOnly(),
		},
	}
}

// openFiles is the bound of open files that tare's other arms have.
func openFiles() []specs.POSIXRlimit {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return nil
	}
	return []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Soft: l.Cur, Hard: l.Max}}
}

// write makes the bundle's directory with its config.json.
func (b bundle) write(dir string) error {
	text, err := json.MarshalIndent(b.spec(), "", "\t")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the sandbox's bundle: %w", err)
	}
	return nil
}
