package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// errMalformed is wrapped by every error about a text that the kernel does not write, or that
// was cut off.
var errMalformed = errors.New("malformed")

func malformed(what string) error { return fmt.Errorf("%s: %w", what, errMalformed) }

// Uint parses a whole field as an unsigned decimal number of at most 64 bits, without a sign.
// strconv would need a string, which is allocated.
func Uint(field []byte) (uint64, bool) {
	if len(field) == 0 || len(field) > 20 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range field {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// number is Uint as a float64; NaN: it is no number. Above 2^53 (104 days in ns) it is rounded.
func number(field []byte) float64 {
	if n, ok := Uint(field); ok {
		return float64(n)
	}
	return math.NaN()
}

// hex parses a whole field as an unsigned hexadecimal number; NaN: it is none.
func hex(field []byte) float64 {
	if len(field) == 0 || len(field) > 16 {
		return math.NaN()
	}
	n := uint64(0)
	for _, c := range field {
		var d byte
		switch {
		case '0' <= c && c <= '9':
			d = c - '0'
		case 'a' <= c && c <= 'f':
			d = c - 'a' + 10
		case 'A' <= c && c <= 'F':
			d = c - 'A' + 10
		default:
			return math.NaN()
		}
		n = n<<4 | uint64(d)
	}
	return float64(n)
}

// cutLine splits off the first line; whole is false if it does not end in a newline.
func cutLine(text []byte) (line, rest []byte, whole bool) {
	return bytes.Cut(text, []byte{'\n'})
}

// cutField splits off the first field, which is empty at the end of the line.
func cutField(line []byte) (field, rest []byte) {
	i := 0
	for i < len(line) && isSpace(line[i]) {
		i++
	}
	start := i
	for i < len(line) && !isSpace(line[i]) {
		i++
	}
	return line[start:i], line[i:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// fieldsInto parses fields as numbers into dst, in order; NaN: there is no such field.
func fieldsInto(line []byte, dst []float64) {
	for i := range dst {
		var f []byte
		f, line = cutField(line)
		dst[i] = number(f)
	}
}

// missing fills dst with NaN.
func missing(dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
}

// Numbers parses the fields of the first line as numbers into dst, as in schedstat and in files
// of a single number ("123\n"). A missing field, and one that is no unsigned number ("max",
// "-1"), is NaN.
func Numbers(text []byte, dst []float64) {
	line, _, whole := cutLine(text)
	if !whole {
		missing(dst)
		return
	}
	fieldsInto(line, dst)
}

// Keyed parses lines "key value", "key: value" or "key:\tvalue kB", as in cpu.stat,
// memory.stat, vmstat, meminfo and status. dst[i] becomes the value of keys[i], in bytes where
// the file says kB; NaN: there is no such key. If a key is there twice the first counts.
func Keyed(text []byte, keys []string, dst []float64) {
	missing(dst)
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		if !whole {
			return
		}
		text = rest
		key, value := cutField(line)
		if n := len(key); n > 0 && key[n-1] == ':' {
			key = key[:n-1]
		}
		for i, k := range keys {
			if string(key) == k && math.IsNaN(dst[i]) {
				dst[i] = amount(value)
			}
		}
	}
}

// amount parses a number with an optional unit, of which only kB is known.
func amount(value []byte) float64 {
	f, rest := cutField(value)
	unit, _ := cutField(rest)
	switch string(unit) {
	case "":
		return number(f)
	case "kB":
		return number(f) * 1024
	}
	return math.NaN()
}
