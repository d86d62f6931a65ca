package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Docker is Docker's default profile for a process with capabilities such as "CAP_CHOWN".
func Docker(capabilities []string) (*specs.LinuxSeccomp, error) {
	p, err := seccomp.GetDefaultProfile(&specs.Spec{
		Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{Bounding: capabilities}},
	})
	if err != nil {
		return nil, fmt.Errorf("default seccomp profile of Docker: %w", err)
	}
	return p, nil
}

// Filter is a compiled filter.
type Filter []unix.SockFilter

// assemble converts instructions to the kernel's format.
func assemble(prog []bpf.Instruction) (Filter, error) {
	raw, err := bpf.Assemble(prog)
	if err != nil {
		return nil, fmt.Errorf("assemble seccomp filter: %w", err)
	}
	f := make(Filter, len(raw))
	for i, r := range raw {
		f[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return f, nil
}

// New compiles a profile for this machine.
func New(p *specs.LinuxSeccomp) (Filter, error) {
	prog, err := compile(p, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	return assemble(prog)
}

// Install installs the filter, for good, for the calling thread only. Call it right before an
// exec from a locked thread; the exec ends all other threads. It needs CAP_SYS_ADMIN in the
// user namespace, or no_new_privs.
func (f Filter) Install() error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("install seccomp filter: %w", errno)
	}
	return nil
}
