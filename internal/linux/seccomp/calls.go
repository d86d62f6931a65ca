package seccomp

//go:generate go run ./tables

// call is one system call of an architecture.
type call struct {
	name   string
	number uint32
}

// machine is what a filter has to know of an architecture.
type machine struct {
	audit uint32 // AUDIT_ARCH_ value in seccomp_data.arch
	calls []call // by number
	// foreign is the lowest number of another calling convention under the
	// same audit value (x32 on amd64); 0 when there is none.
	foreign uint32
}

// AUDIT_ARCH_ values, include/uapi/linux/audit.h.
const (
	auditX86_64  = 0xc000003e
	auditAARCH64 = 0xc00000b7
)

// machineOf returns the machine of a GOARCH.
func machineOf(goarch string) (machine, bool) {
	switch goarch {
	case "amd64":
		return machine{audit: auditX86_64, calls: callsamd64, foreign: 0x40000000}, true
	case "arm64":
		return machine{audit: auditAARCH64, calls: callsarm64}, true
	}
	return machine{}, false
}

// number looks a system call up by name.
func (m machine) number(name string) (uint32, bool) {
	for _, c := range m.calls {
		if c.name == name {
			return c.number, true
		}
	}
	return 0, false
}
