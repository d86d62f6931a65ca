// Package units converts amounts with units, as people, servers and tools write them, to base units:
// bytes, seconds, operations per second, ratios from 0 to 1. It knows only how amounts are written, not
// what they count.
//
// To add: a spelling is one function below.
package units

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Spelling is a way in which tools write numbers of bytes: units with their size in bytes, the largest first.
type Spelling struct {
	units []unit
	fold  bool // capital and small letters mean the same
}

type unit struct {
	name  string
	bytes float64
}

// Printed has k, m, g, t and p in any case, with or without b or ib, to the base 1024, and bytes
// without a unit: as fio reads sizes and tools print their settings.
func Printed() Spelling {
	return Spelling{units: multiples("kmgtp", 1024, "ib", "b", ""), fold: true}.with("b", 1).with("", 1)
}

// FioText has the units of fio's text reports, with or without B. Ki, Mi and so on have the base 1024,
// and K is 1024. k, M, G, T and P have the base decimal: 1024 before fio 3, 1000 since.
func FioText(decimal float64) Spelling {
	s := Spelling{units: append(multiples("KMGTP", 1024, "iB", "i"), multiples("KMGTP", decimal, "B", "")...)}
	for i := range s.units {
		if u := &s.units[i]; u.name == "K" || u.name == "KB" {
			u.bytes = 1024
		}
	}
	return s.with("kB", decimal).with("k", decimal).with("B", 1)
}

// multiples makes units of each letter with each ending. The first letter has the size base, the second
// its square, and so on.
func multiples(letters string, base float64, endings ...string) (all []unit) {
	for power, letter := range letters {
		for _, end := range endings {
			all = append(all, unit{string(letter) + end, math.Pow(base, float64(power+1))})
		}
	}
	slices.Reverse(all)
	return all
}

// with returns a spelling that also has this unit, as the last one.
func (s Spelling) with(name string, bytes float64) Spelling {
	s.units = append(slices.Clip(s.units), unit{name, bytes})
	return s
}

// Unit returns the size of a unit in bytes.
func (s Spelling) Unit(name string) (bytes float64, ok bool) {
	for _, u := range s.units {
		if u.name == name || s.fold && strings.EqualFold(u.name, name) {
			return u.bytes, true
		}
	}
	return 0, false
}

// Whole reads a whole number with a unit, such as "64MiB", as bytes from 0 to 2⁶³-1.
func (s Spelling) Whole(text string) (int64, error) {
	digits, unit := splitUnit(text)
	bytes, ok := s.Unit(unit)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/int64(bytes) {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	return n * int64(bytes), nil
}

// splitUnit splits a text after its last digit or point.
func splitUnit(text string) (digits, unit string) {
	i := strings.LastIndexAny(text, "0123456789.") + 1
	return text[:i], text[i:]
}
