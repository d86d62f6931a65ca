// Package units reads amounts with the units of people, servers and tools, in base units:
// bytes, seconds, operations per second, ratios from 0 to 1. It knows spellings and nothing of
// what is counted.
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

// Spelling is how bytes are written: the units, largest first, and what one of each is in bytes.
type Spelling struct {
	units []unit
	fold  bool // capital and small letters mean the same
}

type unit struct {
	name  string
	bytes float64
}

// IEC are B, KiB, MiB and GiB, as tare writes bytes itself.
func IEC() Spelling { return Spelling{units: ladder("KMG", 1024, "iB")}.with("B", 1) }

// Bare are the units of s, and bytes without a unit.
func (s Spelling) Bare() Spelling { return s.with("", 1) }

// Server are K, M, G and T of 1024, as MySQL, PostgreSQL and ClickHouse read them, with or without
// iB behind, and bytes without a unit.
func Server() Spelling {
	return Spelling{units: slices.Concat(ladder("KMGT", 1024, "iB", ""), ladder("kmgt", 1024, "iB", ""))}.Bare()
}

// Printed are k, m, g, t and p of 1024 with or without b and ib behind, as fio reads them and
// tools print their settings, and bytes without a unit.
func Printed() Spelling {
	return Spelling{units: ladder("kmgtp", 1024, "ib", "b", ""), fold: true}.with("b", 1).Bare()
}

// FioText are the units of fio's text report, with or without B behind: Ki and K are 1024, k is
// decimal, a single M or larger is 1024 based before fio 3 and decimal since.
func FioText(decimal float64) Spelling {
	s := Spelling{units: slices.Concat(ladder("KMGTP", 1024, "iB", "i"), ladder("KMGTP", decimal, "B", ""))}
	for i := range s.units {
		if u := &s.units[i]; u.name == "K" || u.name == "KB" {
			u.bytes = 1024
		}
	}
	return s.with("kB", decimal).with("k", decimal).with("B", 1)
}

// ladder are the letters with each of the endings: base, its square, its cube and so on.
func ladder(letters string, base float64, endings ...string) (all []unit) {
	for power, letter := range letters {
		for _, end := range endings {
			all = append(all, unit{string(letter) + end, math.Pow(base, float64(power+1))})
		}
	}
	slices.Reverse(all)
	return all
}

func (s Spelling) with(name string, bytes float64) Spelling {
	s.units = append(slices.Clip(s.units), unit{name, bytes})
	return s
}

// Unit is how many bytes a unit is.
func (s Spelling) Unit(name string) (bytes float64, ok bool) {
	for _, u := range s.units {
		if u.name == name || s.fold && strings.EqualFold(u.name, name) {
			return u.bytes, true
		}
	}
	return 0, false
}

// Whole reads a whole number of a unit, as bytes: "64MiB". It is at least 0 and below 2⁶³.
func (s Spelling) Whole(text string) (int64, error) {
	digits, unit := s.cut(text)
	bytes, ok := s.Unit(unit)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/int64(bytes) {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	return n * int64(bytes), nil
}

// Part reads a number of a unit, which may be a fraction, as whole bytes: "1.5GiB". It is above
// 0 and below 2⁶³.
func (s Spelling) Part(text string) (int64, error) {
	digits, unit := s.cut(text)
	bytes, ok := s.Unit(unit)
	x, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(x > 0 && x*bytes < math.MaxInt64) {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	return int64(x * bytes), nil
}

// cut parts a number and its unit.
func (s Spelling) cut(text string) (digits, unit string) {
	i := strings.LastIndexAny(text, "0123456789.") + 1
	return text[:i], text[i:]
}

// Format writes bytes with the largest unit of which they are a whole number: 64MiB.
func (s Spelling) Format(bytes int64) string {
	for _, u := range s.units {
		if n := int64(u.bytes); u.name != "" && bytes >= n && bytes%n == 0 {
			return strconv.FormatInt(bytes/n, 10) + u.name
		}
	}
	return "0B"
}
