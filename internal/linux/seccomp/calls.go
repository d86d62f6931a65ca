package seccomp

import "github.com/elastic/go-seccomp-bpf/arch"

// machine is what a filter has to know of an architecture.
type machine struct {
	audit uint32 // AUDIT_ARCH_ value in seccomp_data.arch
	calls map[string]int
	// foreign is the lowest number of another calling convention under the
	// same audit value (x32 on amd64); 0 when there is none.
	foreign uint32
}

// machineOf returns the machine of a GOARCH.
func machineOf(goarch string) (machine, bool) {
	switch goarch {
	case "amd64":
		return machineIn(arch.X86_64, uint32(arch.X32.SeccompMask)), true
	case "arm64":
		return machineIn(arch.AARCH64, 0), true
	}
	return machine{}, false
}

func machineIn(table *arch.Info, foreign uint32) machine {
	return machine{audit: uint32(table.ID), calls: table.SyscallNames, foreign: foreign}
}

// kernelNames are calls which the table of arm64 has by the kernel's name and
// profiles by libseccomp's.
var kernelNames = map[string]string{"newfstatat": "fstatat"}

// number looks a system call up by name.
func (m machine) number(name string) (uint32, bool) {
	nr, ok := m.calls[name]
	if !ok {
		nr, ok = m.calls[kernelNames[name]]
	}
	return uint32(nr), ok
}
