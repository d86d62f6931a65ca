package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
)

// The checks of parameters and, for values that were checked, their meaning.

// oneOf allows the words.
func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			return nil
		}
		return fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
	}
}

// choice is a parameter that is one of a few words.
func Choice(name, usual, help string, words ...string) Param {
	return Param{Name: name, Default: usual, Help: help, Words: words, Check: oneOf(words...)}
}

// onOff is a parameter that is on or off.
func OnOff(name, usual, help string) Param { return Choice(name, usual, help, "on", "off") }

// whole allows whole numbers from low to high.
func Whole(low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a whole number from %d to %d", s, low, high)
		}
		return nil
	}
}

// perSecond allows rates from low to high.
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

// seed allows what a seed can be.
func seed(s string) error {
	if _, err := strconv.ParseUint(s, 10, 64); err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d", s, uint64(math.MaxUint64))
	}
	return nil
}

// size allows sizes in bytes from low to high.
func Size(low, high int64) func(string) error {
	return func(s string) error {
		n, err := parseSize(s)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a size from %s to %s, such as 512B, 64KiB or 2MiB", s, sizes.Format(low), sizes.Format(high))
		}
		return nil
	}
}

// sizes are how sizes in bytes are written.
var sizes = units.IEC().Bare()

// parseSize reads bytes with a binary unit, or none.
func parseSize(s string) (int64, error) { return sizes.Whole(strings.Replace(s, " ", "", 1)) }

// reader takes values that were checked. The first that does not hold is kept.
type Reader struct {
	Values
	Err error
}

func (r *Reader) Keep(name string, err error) {
	if err != nil && r.Err == nil {
		r.Err = fmt.Errorf("%s: %w", name, err)
	}
}

func (r *Reader) Whole(name string) int {
	n, err := strconv.Atoi(r.Values[name])
	r.Keep(name, err)
	return n
}

func (r *Reader) seed(name string) uint64 {
	n, err := strconv.ParseUint(r.Values[name], 10, 64)
	r.Keep(name, err)
	return n
}

func (r *Reader) Size(name string) int64 {
	n, err := parseSize(r.Values[name])
	r.Keep(name, err)
	return n
}

func (r *Reader) Number(name string) float64 {
	x, err := strconv.ParseFloat(r.Values[name], 64)
	r.Keep(name, err)
	return x
}
