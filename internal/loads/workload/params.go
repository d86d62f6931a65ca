package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
)

// oneOf allows these words.
func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			return nil
		}
		return fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
	}
}

// Choice is a parameter with a few allowed words.
func Choice(name, usual, help string, words ...string) Param {
	return Param{Name: name, Default: usual, Help: help, Words: words, Check: oneOf(words...)}
}

// OnOff is a parameter that is on or off.
func OnOff(name, usual, help string) Param { return Choice(name, usual, help, "on", "off") }

// Whole allows whole numbers from low to high.
func Whole(low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a whole number from %d to %d", s, low, high)
		}
		return nil
	}
}

// PerSecond allows rates from low to high.
func PerSecond(low, high float64) func(string) error {
	return func(s string) error {
		if err := factor(low, high)(s); err != nil {
			return fmt.Errorf("%w (per second)", err)
		}
		return nil
	}
}

// factor allows numbers from low to high.
func factor(low, high float64) func(string) error {
	return func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || x < low || x > high {
			return fmt.Errorf("%q is not a number from %g to %g", s, low, high)
		}
		return nil
	}
}

// seed allows unsigned 64-bit numbers.
func seed(s string) error {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d", s, uint64(math.MaxUint64))
	}
	return nil
}

// Size allows sizes from low to high, in bytes.
func Size(low, high int64) func(string) error {
	return func(s string) error {
		n, err := units.Size(s)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a size from %s to %s, such as 512B, 64K or 2MiB", s, units.Bytes(low), units.Bytes(high))
		}
		return nil
	}
}

// Reader converts checked values. Err is the first error.
type Reader struct {
	Values
	Err error
}

// fail sets Err to an error of the named parameter unless Err is set; a nil error is ignored.
func (r *Reader) fail(name string, err error) {
	if err != nil && r.Err == nil {
		r.Err = fmt.Errorf("%s: %w", name, err)
	}
}

// Whole is the value of a whole number.
func (r *Reader) Whole(name string) int {
	n, err := strconv.Atoi(r.Values[name])
	r.fail(name, err)
	return n
}

func (r *Reader) seed(name string) uint64 {
	n, err := strconv.ParseUint(r.Values[name], 10, 64)
	r.fail(name, err)
	return n
}

// Size is the value of a size, in bytes.
func (r *Reader) Size(name string) int64 {
	n, err := units.Size(r.Values[name])
	r.fail(name, err)
	return n
}

// Number is the value of a number.
func (r *Reader) Number(name string) float64 {
	x, err := strconv.ParseFloat(r.Values[name], 64)
	r.fail(name, err)
	return x
}
