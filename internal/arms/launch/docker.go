package launch

import (
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// Docker's defaults for a container, copied from moby's daemon/pkg/oci/defaults.go and
// caps/defaults.go.

// DockerCapabilities are the capabilities that Docker keeps.
func DockerCapabilities() []string {
	return []string{
		"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID",
		"CAP_SETUID", "CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
	}
}

// DockerMounts are the mounts of a container, without control groups.
func DockerMounts() []specs.Mount {
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=67108864"}},
	}
}

// DockerCgroups is the mount of the control groups in a container. The word cgroup makes an OCI
// runtime mount the hierarchies of version 1.
func DockerCgroups(v2 bool) specs.Mount {
	m := specs.Mount{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"ro", "nosuid", "noexec", "nodev"}}
	if v2 {
		m.Type = "cgroup2"
	}
	return m
}

// userMounts are the mounts in a user namespace: it has no group 5, and a new sysfs would need
// a network namespace of its own, so that the host's /sys is bound.
func userMounts(mounts []specs.Mount) []specs.Mount {
	out := slices.Clone(mounts)
	for i, m := range out {
		m.Options = slices.DeleteFunc(slices.Clone(m.Options), func(o string) bool { return strings.HasPrefix(o, "gid=") })
		if m.Type == "sysfs" {
			m.Type, m.Source, m.Options = "", "/sys", []string{"rbind", "ro", "nosuid", "noexec", "nodev"}
		}
		out[i] = m
	}
	return out
}

// DockerMasked are the paths that are hidden in a container.
func DockerMasked() []string {
	return []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
		"/sys/devices/virtual/powercap",
	}
}

// DockerReadOnly are the paths that a container cannot write.
func DockerReadOnly() []string {
	return []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
}
