package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// ErrMalformed is wrapped by every error that means: the text is not what the
// kernel writes, or it was cut off.
var ErrMalformed = errors.New("malformed")

func malformed(what string) error { return fmt.Errorf("%s: %w", what, ErrMalformed) }

// Uint reads a whole field as an unsigned decimal number. Signs, other bases and
// what does not fit into 64 bits are refused. strconv would want a string, which is
// allocated.
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

// number is Uint as a float64, NaN when there is none. Above 2^53 (104 days of
// nanoseconds) the last digits are rounded.
func number(field []byte) float64 {
	if n, ok := Uint(field); ok {
		return float64(n)
	}
	return math.NaN()
}

// hex reads a whole field as an unsigned hexadecimal number, NaN when it is none.
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

// cutLine takes the first line off; whole is false when no newline ends it.
func cutLine(text []byte) (line, rest []byte, whole bool) {
	return bytes.Cut(text, []byte{'\n'})
}

// cutField takes the first field off; it is empty at the end of the line.
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

// fieldsInto reads fields as numbers into dst, in order; those that are not
// there are NaN.
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

// Numbers reads the fields of the first line as numbers into dst, as in
// schedstat, loadavg-like and single-number files ("123\n"). What is not there,
// or is no unsigned number ("max", "-1"), is NaN.
func Numbers(text []byte, dst []float64) {
	line, _, whole := cutLine(text)
	if !whole {
		missing(dst)
		return
	}
	fieldsInto(line, dst)
}

// Keyed reads lines of "key value", "key: value" or "key:\tvalue kB", as in
// cpu.stat, memory.stat, vmstat, meminfo and status: dst[i] becomes the value of
// keys[i], in bytes where the file says kB, NaN where there is none. A key that
// comes twice counts once, the first time.
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

// amount is a number with an optional unit; any unit but kB is refused.
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
