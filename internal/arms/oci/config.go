package oci

import (
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/seccomp"
)

// bundle has the values of a config.json.
type bundle struct {
	root  launch.RootDirs
	self  string // path of this binary on the host
	args  []string
	env   []string
	group string // path of the control group below each mount
	v2    bool   // version 2 is the only one
	netns string // path of the network namespace; empty: the host's
	// chosen is what the experiment chose instead of Docker's defaults.
	chosen environment.Container
}

// spec is the configuration that Docker writes for the same container.
func (b bundle) spec() (*specs.Spec, error) {
	caps := launch.DockerCapabilities()
	profile, err := seccomp.Docker(caps)
	if err != nil {
		return nil, err
	}
	if b.chosen.Seccomp == environment.Unconfined {
		profile = nil
	}
	if b.chosen.Capabilities == environment.NoCapabilities {
		caps = []string{}
	}
	s := &specs.Spec{
		Version:  launch.SpecVersion,
		Hostname: "container",
		Root:     &specs.Root{Path: b.root.Point},
		Process: &specs.Process{
			Args: append([]string{launch.Exe}, b.args...), Env: b.env, Cwd: launch.Volume,
			Capabilities:    &specs.LinuxCapabilities{Bounding: caps, Effective: caps, Permitted: caps},
			ApparmorProfile: b.chosen.Profile(),
			Rlimits:         launch.OpenFiles(),
		},
		Mounts: b.mounts(),
		Linux: &specs.Linux{
			CgroupsPath: b.group,
			Resources:   &specs.LinuxResources{Devices: devices()},
			Namespaces:  b.namespaces(),
			Seccomp:     profile,
			MaskedPaths: launch.DockerMasked(), ReadonlyPaths: launch.DockerReadOnly(),
		},
	}
	return s, nil
}

func (b bundle) mounts() []specs.Mount {
	list := append(launch.DockerMounts(), launch.DockerCgroups(false)) // runtimes take the word cgroup for both versions
	list = append(list, b.root.Binds()...)
	return append(list, specs.Mount{Destination: launch.Exe, Type: "bind", Source: b.self, Options: []string{"bind", "ro", "rprivate"}})
}

func (b bundle) namespaces() []specs.LinuxNamespace {
	list := []specs.LinuxNamespace{
		{Type: specs.MountNamespace}, {Type: specs.PIDNamespace}, {Type: specs.UTSNamespace}, {Type: specs.IPCNamespace},
	}
	if b.v2 {
		list = append(list, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	if b.netns != "" {
		list = append(list, specs.LinuxNamespace{Type: specs.NetworkNamespace, Path: b.netns})
	}
	return list
}

// devices are Docker's rules (moby's daemon/pkg/oci/defaults.go). The configuration has no other
// resources: tare has set the limits on the group, and the runtime does not change them.
func devices() []specs.LinuxDeviceCgroup {
	rule := func(major, minor int64) specs.LinuxDeviceCgroup {
		return specs.LinuxDeviceCgroup{Allow: true, Type: "c", Major: &major, Minor: &minor, Access: "rwm"}
	}
	return []specs.LinuxDeviceCgroup{
		{Allow: false, Access: "rwm"},
		rule(1, 5), rule(1, 3), rule(1, 9), rule(1, 8), rule(5, 0), rule(5, 1),
		{Allow: false, Type: "c", Major: number(10), Minor: number(229), Access: "rwm"},
	}
}

func number(n int64) *int64 { return &n }

// write makes the bundle's directory.
func (b bundle) write(dir string) error {
	s, err := b.spec()
	if err != nil {
		return err
	}
	return launch.WriteBundle(dir, s)
}
