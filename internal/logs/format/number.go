package format

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/tarelab/tare/internal/base/units"
)

// Powers of ten that a float64 holds exactly.
var exactTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Number reads the decimal number at the beginning of b (sign, digits, point, digits, exponent) and
// returns its length in bytes; 0: none. The result is the nearest float64: where a float64 holds digits
// and power of ten exactly, one division rounds once (Clinger 1990, fast path); strconv reads the rest.
// Inf and nan are no numbers.
func Number(b []byte) (x float64, n int) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start, mantissa, digits := i, uint64(0), 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
	}
	digits, exp := i-start, 0
	if i < len(b) && b[i] == '.' {
		point := i
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		}
		exp = point + 1 - i
		digits -= exp
	}
	if digits == 0 {
		return 0, 0
	}
	if e := exponent(b[i:]); e > 0 || digits > 19 || mantissa > 1<<53 || exp < -22 {
		return slowNumber(b[:i+e])
	}
	x = float64(mantissa) / exactTen[-exp]
	if negative {
		x = -x
	}
	return x, i
}

// exponent returns the length of the exponent at the beginning of b; 0: none.
func exponent(b []byte) int {
	if len(b) < 2 || b[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if b[i] == '-' || b[i] == '+' {
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

func slowNumber(b []byte) (float64, int) {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, 0
	}
	return x, len(b)
}

// Whole reads a number with nothing but blanks around it.
func Whole(b []byte) Num {
	b = bytes.TrimSpace(b)
	x, n := Number(b)
	if n == 0 || n != len(b) {
		return Num{}
	}
	return Some(x)
}

// Leading reads the number at the beginning of b, behind blanks. Commas are accepted where they can only
// separate thousands, as in 569,152.00 or 1,234,567; with any other comma the number is missing.
func Leading(b []byte) Num {
	b = bytes.TrimLeft(b, " \t")
	x, n := Number(b)
	if n == 0 {
		return Num{}
	}
	if n+1 < len(b) && b[n] == ',' && b[n+1]-'0' <= 9 {
		m := separated.Find(b)
		if m == nil || len(m) < len(b) && (b[len(m)]-'0' <= 9 || b[len(m)] == ',') {
			return Num{}
		}
		return Whole(bytes.ReplaceAll(m, []byte(","), nil))
	}
	return Some(x)
}

// separated matches numbers whose commas cannot be decimal signs.
var separated = regexp.MustCompile(`^-?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})`)

// Uint reads the whole number at the beginning of b and returns its length in bytes; 0: none, or more
// than 19 digits.
func Uint(b []byte) (x uint64, n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		if n >= 19 {
			return 0, 0
		}
		x = x*10 + uint64(b[n]-'0')
		n++
	}
	return x, n
}

// Commas returns a copy of the line with a point for every comma between two digits, and whether there
// was one. Tools print points; commas come from a locale or a spreadsheet.
func Commas(line []byte) ([]byte, bool) {
	var out []byte
	for i := 1; i+1 < len(line); i++ {
		if line[i] == ',' && line[i-1]-'0' <= 9 && line[i+1]-'0' <= 9 {
			if out == nil {
				out = bytes.Clone(line)
			}
			out[i] = '.'
		}
	}
	return out, out != nil
}

// Size reads bytes as tools print them in settings, where K is always 1024: 4096B, 4K, 4k, 16Kb,
// 64.0KiB, 1M. Nothing may follow.
func Size(b []byte) Num {
	b = bytes.TrimSpace(b)
	x, n := Number(b)
	unit, ok := units.Printed().Unit(string(b[n:]))
	if n == 0 || x < 0 || !ok {
		return Num{}
	}
	return Some(x * unit)
}
