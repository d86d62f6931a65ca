// Package seccomp compiles seccomp profiles of the OCI runtime specification to classic BPF and
// installs them. It knows system calls and actions, and neither containers nor arms.
//
// The action for a system call is that of the first rule whose conditions all hold; else that of
// the first rule without conditions; else the default action. In two points the package follows the
// runtimes and not the specification: several conditions on the same argument are alternatives
// (runc, crun), and a number above the highest number in the profile gets ENOSYS, so that a program
// built for a newer kernel falls back to older calls (runc). System calls of 32-bit calling
// conventions (i386, x32, arm) get ENOSYS whatever the profile says: tare is a 64-bit program,
// and starts no 32-bit program in an arm with a filter.
package seccomp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// maxInstructions is BPF_MAXINSNS, the kernel's limit for one filter.
const maxInstructions = 4096

// Offsets in struct seccomp_data. Words have the machine's byte order: amd64 and arm64 are little
// endian.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// errProfile is wrapped by every error about a profile that cannot be compiled.
var errProfile = errors.New("seccomp profile")

// compile compiles a profile for a GOARCH (amd64 or arm64). It skips system calls that the
// architecture does not have, as runtimes do.
func compile(p *specs.LinuxSeccomp, goarch string) ([]bpf.Instruction, error) {
	m, ok := machineOf(goarch)
	if !ok {
		return nil, fmt.Errorf("%w: no table of system calls for %s", errProfile, goarch)
	}
	if p.ListenerPath != "" {
		return nil, fmt.Errorf("%w: a listener (%s) is not supported", errProfile, p.ListenerPath)
	}
	defaultRet, err := returnValue(p.DefaultAction, p.DefaultErrnoRet)
	if err != nil {
		return nil, err
	}
	rulesOf, err := compileRules(p, m, defaultRet)
	if err != nil {
		return nil, err
	}
	prog := slices.Concat(prologue(m), tree(spansOf(rulesOf, aboveHighest(defaultRet), defaultRet)))
	if len(prog) > maxInstructions {
		return nil, fmt.Errorf("%w: %d instructions, the kernel takes %d", errProfile, len(prog), maxInstructions)
	}
	return prog, nil
}

// nosys is the return value for system calls that are newer than the profile.
const nosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

// aboveHighest returns the return value for numbers above the highest number in the profile: ENOSYS,
// unless the default action lets the call pass.
func aboveHighest(defaultRet uint32) uint32 {
	switch defaultRet & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_LOG, unix.SECCOMP_RET_TRACE:
		return defaultRet
	}
	return nosys
}

// prologue returns ENOSYS to 32-bit calling conventions and loads the system call number into the
// accumulator, BPF's register A.
func prologue(m machine) []bpf.Instruction {
	prog := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: m.audit, SkipTrue: 1},
		bpf.RetConstant{Val: nosys},
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	}
	if m.foreign != 0 {
		prog = append(prog,
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: m.foreign, SkipFalse: 1},
			bpf.RetConstant{Val: nosys})
	}
	return prog
}

// rule is one rule for one system call. All conditions must hold.
type rule struct {
	conds []specs.LinuxSeccompArg
	ret   uint32 // return value of the filter: action and data
}

// compileRules returns the rules of each system call that the profile names, in the order of
// comparison.
func compileRules(p *specs.LinuxSeccomp, m machine, defaultRet uint32) (map[uint32][]rule, error) {
	rulesOf := map[uint32][]rule{}
	for _, s := range p.Syscalls {
		v, err := returnValue(s.Action, s.ErrnoRet)
		if err != nil {
			return nil, fmt.Errorf("%w (rule for %v)", err, s.Names)
		}
		if err := checkConditions(s.Args); err != nil {
			return nil, fmt.Errorf("%w (rule for %v)", err, s.Names)
		}
		for _, name := range s.Names {
			nr, ok := m.number(name)
			if !ok {
				continue
			}
			for _, conds := range alternatives(s.Args) {
				rulesOf[nr] = append(rulesOf[nr], rule{conds, v})
			}
		}
	}
	for nr, rules := range rulesOf {
		rulesOf[nr] = ordered(rules, defaultRet)
	}
	return rulesOf, nil
}

// checkConditions returns an error for conditions that this package cannot compile.
func checkConditions(args []specs.LinuxSeccompArg) error {
	for _, a := range args {
		if a.Index > 5 {
			return fmt.Errorf("%w: argument %d, a system call has 0 to 5", errProfile, a.Index)
		}
		if !slices.Contains(comparisons, a.Op) {
			return fmt.Errorf("%w: operator %q is not supported", errProfile, a.Op)
		}
	}
	return nil
}

// alternatives splits the conditions of one rule as runtimes do: if any argument has several
// conditions, each condition of the rule becomes a rule of its own.
func alternatives(args []specs.LinuxSeccompArg) [][]specs.LinuxSeccompArg {
	seen := map[uint]bool{}
	twice := false
	for _, a := range args {
		twice = twice || seen[a.Index]
		seen[a.Index] = true
	}
	if !twice {
		return [][]specs.LinuxSeccompArg{args}
	}
	var out [][]specs.LinuxSeccompArg
	for _, a := range args {
		out = append(out, []specs.LinuxSeccompArg{a})
	}
	return out
}

// ordered orders rules for comparison: rules with conditions first, then exactly one without. It drops
// rules at the end that return the same as the last.
func ordered(rules []rule, defaultRet uint32) []rule {
	var out []rule
	last := rule{ret: defaultRet}
	for i := len(rules) - 1; i >= 0; i-- {
		if len(rules[i].conds) == 0 {
			last = rules[i]
		}
	}
	for _, r := range rules {
		if len(r.conds) > 0 {
			out = append(out, r)
		}
	}
	for len(out) > 0 && out[len(out)-1].ret == last.ret {
		out = out[:len(out)-1]
	}
	return append(out, last)
}

// returnValue returns the filter's return value for an action.
func returnValue(a specs.LinuxSeccompAction, errno *uint) (uint32, error) {
	data := uint32(unix.EPERM)
	if errno != nil {
		if *errno > unix.SECCOMP_RET_DATA {
			return 0, fmt.Errorf("%w: errno %d does not fit in 16 bits", errProfile, *errno)
		}
		data = uint32(*errno)
	}
	switch a {
	case specs.ActAllow:
		return unix.SECCOMP_RET_ALLOW, nil
	case specs.ActErrno:
		return unix.SECCOMP_RET_ERRNO | data, nil
	case specs.ActTrace:
		return unix.SECCOMP_RET_TRACE | data, nil
	case specs.ActKill, specs.ActKillThread:
		return unix.SECCOMP_RET_KILL_THREAD, nil
	case specs.ActKillProcess:
		return unix.SECCOMP_RET_KILL_PROCESS, nil
	case specs.ActTrap:
		return unix.SECCOMP_RET_TRAP, nil
	case specs.ActLog:
		return unix.SECCOMP_RET_LOG, nil
	}
	return 0, fmt.Errorf("%w: action %q is not supported", errProfile, a)
}
