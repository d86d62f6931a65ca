package seccomp

import (
	"maps"
	"math"
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/net/bpf"
)

// span is a range of system call numbers with the same rules; it ends before the next span.
type span struct {
	first uint32
	rules []rule
}

// spansOf divides all system call numbers into spans. It joins adjacent spans that return the same
// value without conditions. Numbers above the highest named number return aboveHighest.
func spansOf(rulesOf map[uint32][]rule, aboveHighest, defaultRet uint32) []span {
	spans := []span{{0, []rule{{ret: defaultRet}}}}
	add := func(first uint32, rules []rule) {
		last := &spans[len(spans)-1]
		switch {
		case plain(last.rules) && plain(rules) && last.rules[0].ret == rules[0].ret:
		case last.first == first:
			last.rules = rules
		default:
			spans = append(spans, span{first, rules})
		}
	}
	next := uint32(0)
	for _, nr := range slices.Sorted(maps.Keys(rulesOf)) {
		if nr > next {
			add(next, []rule{{ret: defaultRet}})
		}
		add(nr, rulesOf[nr])
		next = nr + 1
	}
	if len(rulesOf) > 0 {
		add(next, []rule{{ret: aboveHighest}})
	}
	return spans
}

// plain says whether a span returns one value without conditions.
func plain(rules []rule) bool { return len(rules) == 1 }

// tree returns the code that finds the span of the number in A by bisection. The kernel caches which
// numbers are always allowed (Linux 5.11). To find out, it runs the filter with the number only, so
// the path to a span without conditions must compare nothing but A.
func tree(spans []span) []bpf.Instruction {
	if len(spans) == 1 {
		return body(spans[0].rules)
	}
	mid := len(spans) / 2
	left, right := tree(spans[:mid]), tree(spans[mid:])
	return slices.Concat(branch(spans[mid].first, len(left)), left, right)
}

// branch skips distance instructions if A >= value. A conditional jump reaches 255
// instructions, an unconditional jump any number.
func branch(value uint32, distance int) []bpf.Instruction {
	if distance <= math.MaxUint8 {
		return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: value, SkipTrue: uint8(distance)}}
	}
	return []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: value, SkipFalse: 1},
		bpf.Jump{Skip: uint32(distance)},
	}
}

// body compares the rules in order; the last has no conditions.
func body(rules []rule) []bpf.Instruction {
	var prog []bpf.Instruction
	for _, r := range rules {
		prog = append(prog, conditions(r)...)
	}
	return prog
}

// conditions is the code of one rule: it returns the rule's value if all conditions hold, else it
// continues after its last instruction. The code is built backwards, since a failed condition
// jumps to the end. Six arguments with at most 6 instructions each are within reach of a
// conditional jump.
func conditions(r rule) []bpf.Instruction {
	prog := []bpf.Instruction{bpf.RetConstant{Val: r.ret}}
	for _, c := range slices.Backward(r.conds) {
		prog = append(condition(c, uint8(len(prog))), prog...)
	}
	return prog
}

// condition compares a 64-bit argument in two halves. It continues if the condition holds, else
// it skips rest instructions after itself.
func condition(c specs.LinuxSeccompArg, rest uint8) []bpf.Instruction {
	low := bpf.LoadAbsolute{Off: offArgs + 8*uint32(c.Index), Size: 4}
	high := bpf.LoadAbsolute{Off: low.Off + 4, Size: 4}
	lo, hi := uint32(c.Value), uint32(c.Value>>32)
	is := func(v uint32, yes, no uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: yes, SkipFalse: no}
	}
	above := func(v uint32, yes, no uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: v, SkipTrue: yes, SkipFalse: no}
	}
	least := func(v uint32, yes, no uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: v, SkipTrue: yes, SkipFalse: no}
	}
	switch c.Op {
	case specs.OpEqualTo:
		return []bpf.Instruction{high, is(hi, 0, rest+2), low, is(lo, 0, rest)}
	case specs.OpNotEqual:
		return []bpf.Instruction{high, is(hi, 0, 2), low, is(lo, rest, 0)}
	case specs.OpGreaterThan:
		return []bpf.Instruction{high, above(hi, 3, 0), is(hi, 0, rest+2), low, above(lo, 0, rest)}
	case specs.OpGreaterEqual:
		return []bpf.Instruction{high, above(hi, 3, 0), is(hi, 0, rest+2), low, least(lo, 0, rest)}
	case specs.OpLessThan:
		return []bpf.Instruction{high, above(hi, rest+3, 0), is(hi, 0, 2), low, least(lo, rest, 0)}
	case specs.OpLessEqual:
		return []bpf.Instruction{high, above(hi, rest+3, 0), is(hi, 0, 2), low, above(lo, rest, 0)}
	}
	// SCMP_CMP_MASKED_EQ: checkConditions accepts no other operator.
	return []bpf.Instruction{
		high, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: hi}, is(uint32(c.ValueTwo>>32), 0, rest+3),
		low, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: lo}, is(uint32(c.ValueTwo), 0, rest),
	}
}

// comparisons are the operators of condition.
var comparisons = []specs.LinuxSeccompOperator{
	specs.OpEqualTo, specs.OpNotEqual, specs.OpGreaterThan, specs.OpGreaterEqual,
	specs.OpLessThan, specs.OpLessEqual, specs.OpMaskedEqual,
}
