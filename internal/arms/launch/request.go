package launch

import (
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/seccomp"
	"github.com/tarelab/tare/internal/wire"
)

// FirstFile is the descriptor of the first of Child.Files.
const FirstFile = 3

// Request is what a child has to do, as JSON over its socket. A zero field changes nothing. The
// child executes the fields in this order.
type Request struct {
	// Files is the number of inherited files, from descriptor 3 on. The descriptor behind them is
	// the socket, the next one the network namespace if there is one.
	Files int
	// Tasks are the files "tasks" of control groups of version 1, which the child joins.
	Tasks []string
	// Member is the membership that the child reads back then.
	Member Membership
	// Net says that the child enters the network namespace that it inherited.
	Net bool
	// CgroupNS makes a cgroup namespace, whose root are the groups that the child has joined.
	CgroupNS bool
	// Copy makes the child copy a directory tree and end.
	Copy *Copy
	// MountNS and PidNS say that the child has a mount and a pid namespace of its own.
	MountNS, PidNS bool
	Root           *Root
	Hostname       string
	// Dir is the working directory.
	Dir      string
	Security *Security
	// Nobody makes the child an ordinary user without any privilege.
	Nobody *Nobody
	// Runtime makes the child look after a container instead; the fields behind Root are not used
	// then, because the runtime does the rest.
	Runtime *Runtime
	// Exe is the program to execute: a symbolic link to /proc/self/exe, which gives the process
	// its name, or runsc; empty: tare's binary.
	Exe string
	// Args are its arguments and Env its whole environment.
	Args []string
	Env  []string
}

// Root is the root file system of a child.
type Root struct {
	Overlay namespace.Overlay
	Point   string // an empty directory where the root is mounted
	// Only mounts the overlay, hides the paths Hidden and does not change the child's root.
	Only   bool
	Hidden []string
	// Plain says that Point is the root, without an overlay, with Mounts on it.
	Plain bool
	// Mounts are made in order; then devices are made in /dev.
	Mounts           []specs.Mount
	Masked, ReadOnly []string
	// User says that the child is in a user namespace.
	User bool
}

// Security is what the child gives up.
type Security struct {
	Capabilities []string // what it keeps
	Seccomp      *specs.LinuxSeccomp
}

// DockerSecurity is Docker's default: capabilities and seccomp profile.
func DockerSecurity() (*Security, error) {
	profile, err := seccomp.Docker(DockerCapabilities())
	if err != nil {
		return nil, err
	}
	return &Security{Capabilities: DockerCapabilities(), Seccomp: profile}, nil
}

// environ is the environment of every load, the same bytes in every arm: its size moves the
// stack, which alone can change a result by several percent (Mytkowicz et al. 2009).
func environ() []string {
	return []string{
		"PATH=" + wire.ProgramPath,
		"HOME=/", "HOSTNAME=tare", "LANG=C.UTF-8",
	}
}
