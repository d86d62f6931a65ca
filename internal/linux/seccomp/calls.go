package seccomp

import "github.com/elastic/go-seccomp-bpf/arch"

// machine is an architecture as a filter sees it.
type machine struct {
	audit uint32 // AUDIT_ARCH_ value in seccomp_data.arch
	calls map[string]int
	// foreign is the lowest number of a second calling convention with the same audit value
	// (x32 on amd64); 0: there is none.
	foreign uint32
}

// machineOf is the machine of a GOARCH.
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

// kernelNames maps libseccomp's name, which profiles use, to the kernel's name, which the table
// of arm64 uses.
var kernelNames = map[string]string{"newfstatat": "fstatat"}

// number is the number of a system call.
func (m machine) number(name string) (uint32, bool) {
	nr, ok := m.calls[name]
	if !ok {
		nr, ok = m.calls[kernelNames[name]]
	}
	return uint32(nr), ok
}
