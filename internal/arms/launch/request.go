package launch

import (
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/seccomp"
)

// InitCommand is the hidden command that Main implements.
const InitCommand = "__init"

// FirstFile is the descriptor of the first of Child.Files.
const FirstFile = 3

// Request is what a child is told, as JSON over its socket. The zero value of
// every part is: leave it as it is. The parts are done in this order.
type Request struct {
	// Files is how many inherited files there are, from descriptor 3 on. The
	// socket comes behind them, then the network namespace if there is one.
	Files int
	// Tasks are files of control groups of version 1 that take one thread.
	Tasks []string
	// Member is what the child reads back after that.
	Member Membership
	// Net says that a network namespace is inherited and to be entered.
	Net bool
	// CgroupNS asks for a cgroup namespace, rooted at the groups joined.
	CgroupNS bool
	// MountNS says that the child has a mount namespace and PidNS that it has a
	// pid namespace of its own.
	MountNS, PidNS bool
	Root           *Root
	Hostname       string
	// Dir is the working directory.
	Dir      string
	Security *Security
	// Nobody makes the child an ordinary user without any privilege.
	Nobody *Nobody
	// Runtime makes the child look after a container instead; everything below
	// and behind Root is then the runtime's.
	Runtime *Runtime
	// Exe is what is executed: a symbolic link to /proc/self/exe that gives the process
	// its name, or the program that runs the load; empty: this binary.
	Exe string
	// Args are its arguments and Env its whole environment.
	Args []string
	Env  []string
}

// Root is a root file system of the child's own.
type Root struct {
	Overlay namespace.Overlay
	// Point is an empty directory where it is mounted while it is made. Only says that
	// this is all that is wanted of it, beside covering what is Hidden on the host.
	Point  string
	Only   bool
	Hidden []string
	// Plain says that Point is the root itself, without an overlay and with
	// nothing but Mounts on it.
	Plain bool
	// Mounts are made in order, Devices are put into /dev after them.
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

// DockerSecurity is what Docker's default takes away.
func DockerSecurity() (*Security, error) {
	profile, err := seccomp.Docker(DockerCapabilities())
	if err != nil {
		return nil, err
	}
	return &Security{Capabilities: DockerCapabilities(), Seccomp: profile}, nil
}

// environ is the environment of every load, in every arm the same to the
// byte: its size moves the stack, which alone can change a result by percents
// (Mytkowicz 2009).
func environ() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/", "HOSTNAME=tare", "LANG=C.UTF-8",
	}
}
