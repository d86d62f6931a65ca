package seccomp

import (
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

func TestNumbersOfCalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		amd64, arm64 int64
	}{
		{"read", 0, 63}, {"open", 2, -1}, {"openat", 257, 56}, {"newfstatat", 262, 79}, {"clone3", 435, 435},
		{"futex", 202, 98}, {"io_uring_setup", 425, 425}, {"mseal", 462, 462}, {"no_such_call", -1, -1},
	} {
		for goarch, want := range map[string]int64{"amd64": c.amd64, "arm64": c.arm64} {
			m, _ := machineOf(goarch)
			nr, ok := m.number(c.name)
			if ok != (want >= 0) || ok && int64(nr) != want {
				t.Errorf("%s on %s: %d, %v, want %d", c.name, goarch, nr, ok, want)
			}
		}
	}
}

func TestAuditValues(t *testing.T) {
	for goarch, want := range map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64} {
		if m, _ := machineOf(goarch); m.audit != want {
			t.Errorf("%s: %#x, want %#x", goarch, m.audit, want)
		}
	}
}

// Every system call of Docker's profile is in a table. A call may have another name there, as
// newfstatat has on arm64.
func TestCallsOfDockersProfileAreKnown(t *testing.T) {
	p, err := Docker([]string{"CAP_SYS_ADMIN", "CAP_BPF", "CAP_PERFMON", "CAP_DAC_READ_SEARCH", "CAP_SYS_BOOT", "CAP_SYS_CHROOT",
		"CAP_SYS_MODULE", "CAP_SYS_PACCT", "CAP_SYS_PTRACE", "CAP_SYS_RAWIO", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_SYS_NICE", "CAP_SYSLOG"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[string]bool{"riscv_hwprobe": true, "epoll_ctl_old": true, "epoll_wait_old": true, "uretprobe": true}
	for _, table := range []*arch.Info{arch.ARM, arch.I386} {
		for name := range table.SyscallNames {
			elsewhere[name] = true
		}
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		m, _ := machineOf(goarch)
		for _, s := range p.Syscalls {
			for _, name := range s.Names {
				if _, ok := m.number(name); !ok && !elsewhere[name] {
					t.Errorf("%s: %s is in no table", goarch, name)
				}
			}
		}
	}
}
