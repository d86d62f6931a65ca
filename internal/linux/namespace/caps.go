package namespace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// capNames are the capabilities by number, include/uapi/linux/capability.h.
var capNames = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID",
	"CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK",
	"CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE",
	"CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE",
	"CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL", "CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG",
	"CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
}

// CapSet is a set of capabilities: bit n is capability n.
type CapSet uint64

// Capabilities is the set of the named capabilities.
func Capabilities(names []string) (CapSet, error) {
	var s CapSet
	for _, name := range names {
		n := capNumber(name)
		if n < 0 {
			return 0, fmt.Errorf("no capability is called %q", name)
		}
		s |= 1 << n
	}
	return s, nil
}

func capNumber(name string) int {
	for n, known := range capNames {
		if known == name {
			return n
		}
	}
	return -1
}

// String is the set as in /proc/PID/status.
func (s CapSet) String() string { return fmt.Sprintf("%016x", uint64(s)) }

// DropBounding removes all capabilities but keep from the bounding set of the calling thread.
// It needs CAP_SETPCAP.
func DropBounding(keep CapSet) error {
	for n := range 64 {
		if keep&(1<<n) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(n), 0, 0, 0)
		if err == unix.EINVAL && n > 0 {
			return nil // this kernel has no more capabilities
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", n, err)
		}
	}
	return nil
}

// SetCapabilities sets the permitted and effective sets to those of keep that the calling
// thread has, and empties the inheritable and ambient sets, as Docker does since 20.10.14
// (CVE-2022-24769).
func SetCapabilities(keep CapSet) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL {
		return fmt.Errorf("clear the ambient capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&head, &have[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	var want [2]unix.CapUserData
	for i := range want {
		kept := uint32(keep>>(32*i)) & have[i].Permitted
		want[i] = unix.CapUserData{Effective: kept, Permitted: kept}
	}
	if err := unix.Capset(&head, &want[0]); err != nil {
		return fmt.Errorf("set the capabilities: %w", err)
	}
	return nil
}
