package oci

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/seccomp"
)

// specVersion is one that runc 1.0 and crun 1.0 take.
const specVersion = "1.0.2"

// bundle is what a config.json is made of.
type bundle struct {
	root launch.RootDirs
	self string // path of this binary on the host
	args []string
	env  []string
	// group is the path of the control group below each mount; v2 says that
	// there is only version 2.
	group string
	v2    bool
	netns string // path of the network namespace; empty: the host's
	// asked is what is not as Docker has it by default.
	asked environment.Container
}

// spec is the configuration that Docker would write for the same container.
func (b bundle) spec() (*specs.Spec, error) {
	caps := launch.DockerCapabilities()
	profile, err := seccomp.Docker(caps)
	if err != nil {
		return nil, err
	}
	if b.asked.Seccomp == environment.Unconfined {
		profile = nil
	}
	if b.asked.Capabilities == environment.NoCapabilities {
		caps = []string{}
	}
	s := &specs.Spec{
		Version:  specVersion,
		Hostname: "container",
		Root:     &specs.Root{Path: b.root.Point},
		Process: &specs.Process{
			Args: append([]string{launch.Exe}, b.args...), Env: b.env, Cwd: launch.Volume,
			Capabilities:    &specs.LinuxCapabilities{Bounding: caps, Effective: caps, Permitted: caps},
			ApparmorProfile: b.asked.Profile(),
			Rlimits:         openFiles(),
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

// openFiles is the bound of open files that tare's other arms have. A runtime
// raises its own, as every Go program does, and older ones hand that on: runc 1.1
// where the soft bound is below the hard one.
func openFiles() []specs.POSIXRlimit {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return nil
	}
	return []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Soft: l.Cur, Hard: l.Max}}
}

func (b bundle) mounts() []specs.Mount {
	list := append(launch.DockerMounts(), launch.DockerCgroups(false)) // the runtimes say cgroup for both versions
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

// devices are Docker's rules: moby's daemon/pkg/oci/defaults.go. They are all
// that the runtime is told of resources: the limits are on the group already,
// and the runtime leaves what it is not told.
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

// write makes the bundle's directory with its config.json.
func (b bundle) write(dir string) error {
	s, err := b.spec()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", "\t")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the container's bundle: %w", err)
	}
	return nil
}
