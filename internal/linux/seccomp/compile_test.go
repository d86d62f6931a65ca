package seccomp

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// dockerCaps are the capabilities that Docker leaves.
var dockerCaps = []string{"CAP_CHOWN", "CAP_SYS_CHROOT", "CAP_SETUID"}

// data is struct seccomp_data as the interpreter of x/net/bpf reads it: it
// loads big-endian words, so each 32-bit word is stored big-endian at the
// place where the kernel has it.
func data(arch, nr uint32, args [6]uint64) []byte {
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b[offNumber:], nr)
	binary.BigEndian.PutUint32(b[offArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(b[offArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(b[offArgs+8*i+4:], uint32(a>>32))
	}
	return b
}

// meaning is the meaning of a profile, as in the package comment.
type meaning struct {
	p       *specs.LinuxSeccomp
	m       machine
	rules   map[uint32][]specs.LinuxSyscall
	highest int64
}

func meaningOf(p *specs.LinuxSeccomp, m machine) meaning {
	x := meaning{p, m, map[uint32][]specs.LinuxSyscall{}, -1}
	for _, s := range p.Syscalls {
		numbers := map[uint32]bool{}
		for _, name := range s.Names {
			if nr, ok := m.number(name); ok {
				numbers[nr] = true
			}
		}
		for nr := range numbers {
			x.rules[nr] = append(x.rules[nr], s)
			x.highest = max(x.highest, int64(nr))
		}
	}
	return x
}

func (x meaning) of(arch, nr uint32, args [6]uint64) uint32 {
	if arch != x.m.audit || x.m.foreign != 0 && nr >= x.m.foreign {
		return nosys
	}
	lets := []specs.LinuxSeccompAction{specs.ActAllow, specs.ActLog, specs.ActTrace}
	if x.highest >= 0 && int64(nr) > x.highest && !slices.Contains(lets, x.p.DefaultAction) {
		return nosys
	}
	for _, plain := range []bool{false, true} {
		for _, s := range x.rules[nr] {
			if (len(s.Args) == 0) == plain && holds(s.Args, args) {
				return value(s.Action, s.ErrnoRet)
			}
		}
	}
	return value(x.p.DefaultAction, x.p.DefaultErrnoRet)
}

func holds(conds []specs.LinuxSeccompArg, args [6]uint64) bool {
	all, one, twice := true, false, false
	seen := map[uint]bool{}
	for _, c := range conds {
		a, ok := args[c.Index], false
		switch c.Op {
		case specs.OpEqualTo:
			ok = a == c.Value
		case specs.OpNotEqual:
			ok = a != c.Value
		case specs.OpGreaterThan:
			ok = a > c.Value
		case specs.OpGreaterEqual:
			ok = a >= c.Value
		case specs.OpLessThan:
			ok = a < c.Value
		case specs.OpLessEqual:
			ok = a <= c.Value
		case specs.OpMaskedEqual:
			ok = a&c.Value == c.ValueTwo
		}
		all, one = all && ok, one || ok
		twice = twice || seen[c.Index]
		seen[c.Index] = true
	}
	if twice {
		return one
	}
	return all
}

func value(a specs.LinuxSeccompAction, errno *uint) uint32 {
	data := uint32(1)
	if errno != nil {
		data = uint32(*errno)
	}
	return map[specs.LinuxSeccompAction]uint32{
		specs.ActAllow: 0x7fff0000, specs.ActErrno: 0x00050000 | data, specs.ActTrace: 0x7ff00000 | data,
		specs.ActKillThread: 0, specs.ActKill: 0, specs.ActKillProcess: 0x80000000,
		specs.ActTrap: 0x00030000, specs.ActLog: 0x7ffc0000,
	}[a]
}

func vm(t interface{ Fatal(...any) }, prog []bpf.Instruction) *bpf.VM {
	v, err := bpf.NewVM(prog)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func run(t interface{ Fatal(...any) }, v *bpf.VM, in []byte) uint32 {
	got, err := v.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// edges are arguments near the values that the default profile asks about.
var edges = []uint64{0, 1, 8, 37, 38, 39, 40, 41, 0x20000, 0x20008, 0xffffffff, 1 << 32, 1<<32 | 38,
	unix.CLONE_NEWUSER, unix.CLONE_THREAD, unix.CLONE_NEWNS | unix.CLONE_VM, math.MaxUint64}

func TestEverySystemCallOfTheDefaultProfile(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64"} {
		for _, caps := range [][]string{dockerCaps, nil, {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_BPF"}} {
			p, err := Docker(caps)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := compile(p, goarch)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := machineOf(goarch)
			v, x := vm(t, prog), meaningOf(p, m)
			for nr := range uint32(1024) {
				for _, a := range edges {
					args := [6]uint64{a, a, a, a, a, a}
					got := run(t, v, data(m.audit, nr, args))
					if want := x.of(m.audit, nr, args); got != want {
						t.Fatalf("%s, caps %v: call %d with %#x: %#x, want %#x", goarch, caps, nr, a, got, want)
					}
				}
			}
			t.Logf("%s, %d capabilities: %d instructions", goarch, len(caps), len(prog))
		}
	}
}

func TestForeignConventionsAreRefused(t *testing.T) {
	p, err := Docker(dockerCaps)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := compile(p, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	v := vm(t, prog)
	const auditI386 = 0x40000003
	for name, in := range map[string][]byte{
		"i386":  data(auditI386, 3, [6]uint64{}),
		"arm64": data(unix.AUDIT_ARCH_AARCH64, 63, [6]uint64{}),
		"x32":   data(unix.AUDIT_ARCH_X86_64, 0x40000000, [6]uint64{}),
		"-1":    data(unix.AUDIT_ARCH_X86_64, math.MaxUint32, [6]uint64{}),
	} {
		if got := run(t, v, in); got != nosys {
			t.Errorf("%s: %#x, want ENOSYS", name, got)
		}
	}
}

// anyProfile draws profiles with all actions and operators, overlapping rules,
// unknown names and several conditions on an argument.
func anyProfile(t *rapid.T, m machine) *specs.LinuxSeccomp {
	action := rapid.SampledFrom([]specs.LinuxSeccompAction{specs.ActAllow, specs.ActErrno, specs.ActTrace,
		specs.ActKill, specs.ActKillThread, specs.ActKillProcess, specs.ActTrap, specs.ActLog})
	names := append(slices.Sorted(maps.Keys(m.calls)), "no_such_call")
	value := rapid.OneOf(rapid.SampledFrom(edges), rapid.Uint64())
	cond := rapid.Custom(func(t *rapid.T) specs.LinuxSeccompArg {
		return specs.LinuxSeccompArg{
			Index: uint(rapid.IntRange(0, 5).Draw(t, "index")), Op: rapid.SampledFrom(comparisons).Draw(t, "op"),
			Value: value.Draw(t, "value"), ValueTwo: value.Draw(t, "two"),
		}
	})
	errno := rapid.Custom(func(t *rapid.T) *uint {
		if rapid.Bool().Draw(t, "default errno") {
			return nil
		}
		e := uint(rapid.IntRange(0, 4095).Draw(t, "errno"))
		return &e
	})
	rules := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) specs.LinuxSyscall {
		return specs.LinuxSyscall{
			Names:  rapid.SliceOfN(rapid.SampledFrom(names), 1, 30).Draw(t, "names"),
			Action: action.Draw(t, "action"), ErrnoRet: errno.Draw(t, "errno"),
			Args: rapid.SliceOfN(cond, 0, 4).Draw(t, "args"),
		}
	}), 0, 12).Draw(t, "rules")
	return &specs.LinuxSeccomp{DefaultAction: action.Draw(t, "default"), DefaultErrnoRet: errno.Draw(t, "default errno"), Syscalls: rules}
}

func TestCompiledFilterMeansTheProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goarch := rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "arch")
		m, _ := machineOf(goarch)
		p := anyProfile(t, m)
		prog, err := compile(p, goarch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := assemble(prog); err != nil {
			t.Fatal(err)
		}
		v, x := vm(t, prog), meaningOf(p, m)
		arg := rapid.OneOf(rapid.SampledFrom(interesting(p)), rapid.Uint64())
		drawn := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) (args [6]uint64) {
			for i := range args {
				args[i] = arg.Draw(t, "arg")
			}
			return args
		}), 7, 13).Draw(t, "calls")
		for nr := range uint32(520) {
			args := drawn[nr%uint32(len(drawn))]
			got := run(t, v, data(m.audit, nr, args))
			if want := x.of(m.audit, nr, args); got != want {
				t.Fatalf("call %d with %#x: %#x, want %#x", nr, args, got, want)
			}
		}
	})
}

// interesting are values on both sides of every condition.
func interesting(p *specs.LinuxSeccomp) []uint64 {
	out := slices.Clone(edges)
	for _, s := range p.Syscalls {
		for _, a := range s.Args {
			out = append(out, a.Value, a.Value-1, a.Value+1, a.ValueTwo, a.Value^1<<40)
		}
	}
	return out
}

func TestLongJumps(t *testing.T) {
	m, _ := machineOf("amd64")
	p := &specs.LinuxSeccomp{DefaultAction: specs.ActErrno}
	names := slices.Sorted(maps.Keys(m.calls))
	for i, name := range names {
		s := specs.LinuxSyscall{Names: []string{name}, Action: specs.ActAllow}
		s.Args = []specs.LinuxSeccompArg{{Index: uint(i % 6), Value: uint64(i), Op: specs.OpGreaterThan}}
		p.Syscalls = append(p.Syscalls, s)
	}
	prog, err := compile(p, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	v, x := vm(t, prog), meaningOf(p, m)
	for i, name := range names {
		nr, _ := m.number(name)
		for _, a := range []uint64{uint64(i), 0, math.MaxUint64} {
			args := [6]uint64{a, a, a, a, a, a}
			if got, want := run(t, v, data(m.audit, nr, args)), x.of(m.audit, nr, args); got != want {
				t.Errorf("%s: %#x, want %#x", name, got, want)
			}
		}
	}
}

func TestProfilesThatCannotBeFilters(t *testing.T) {
	big := uint(1 << 16)
	many := &specs.LinuxSeccomp{DefaultAction: specs.ActErrno}
	for i := range 1500 {
		many.Syscalls = append(many.Syscalls, specs.LinuxSyscall{Names: []string{"read"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Value: uint64(i), Op: specs.OpEqualTo}}})
	}
	allow := func(args ...specs.LinuxSeccompArg) *specs.LinuxSeccomp {
		return &specs.LinuxSeccomp{DefaultAction: specs.ActErrno,
			Syscalls: []specs.LinuxSyscall{{Names: []string{"read"}, Action: specs.ActAllow, Args: args}}}
	}
	for name, c := range map[string]struct {
		profile *specs.LinuxSeccomp
		arch    string
		says    string
	}{
		"too long":       {many, "amd64", "the kernel takes 4096"},
		"architecture":   {allow(), "riscv64", "riscv64"},
		"argument":       {allow(specs.LinuxSeccompArg{Index: 6, Op: specs.OpEqualTo}), "amd64", "argument 6"},
		"operator":       {allow(specs.LinuxSeccompArg{Op: "SCMP_CMP_ODD"}), "amd64", "SCMP_CMP_ODD"},
		"action":         {&specs.LinuxSeccomp{DefaultAction: specs.ActNotify}, "amd64", "SCMP_ACT_NOTIFY"},
		"no action":      {&specs.LinuxSeccomp{}, "amd64", `""`},
		"errno":          {&specs.LinuxSeccomp{DefaultAction: specs.ActErrno, DefaultErrnoRet: &big}, "amd64", "65536"},
		"a listener":     {&specs.LinuxSeccomp{DefaultAction: specs.ActErrno, ListenerPath: "/run/x"}, "amd64", "/run/x"},
		"action in rule": {&specs.LinuxSeccomp{DefaultAction: specs.ActAllow, Syscalls: []specs.LinuxSyscall{{Names: []string{"read"}, Action: "X"}}}, "amd64", "[read]"},
	} {
		_, err := compile(c.profile, c.arch)
		if !errors.Is(err, errProfile) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.says)
		}
	}
}
