package db

import (
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/base/units"
)

// Size reads a size in bytes: a whole number with an optional K, M, G or T, powers of 1024 as the
// servers read them, or KiB, MiB, GiB, TiB.
func Size(s string) (int64, error) {
	n, err := units.Server().Whole(s)
	if err != nil || n > 1<<62 {
		return 0, fmt.Errorf("%q: want a size in bytes like 128M or 2GiB", s)
	}
	return n, nil
}

// SizeFrom allows sizes of at least so many bytes.
func SizeFrom(least int64) func(string) error {
	return func(s string) error {
		n, err := Size(s)
		if err != nil {
			return err
		}
		if n < least {
			return fmt.Errorf("%q: want at least %d bytes", s, least)
		}
		return nil
	}
}

// WholeFrom allows whole numbers from low to high.
func WholeFrom(low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q: want a whole number from %d to %d", s, low, high)
		}
		return nil
	}
}

// AtLeast accepts a size that the server has rounded up to its own units.
func AtLeast(size string) func(string) bool {
	return func(got string) bool {
		want, err := Size(size)
		n, err2 := strconv.ParseInt(got, 10, 64)
		return err == nil && err2 == nil && n >= want
	}
}

// MiB is 1 MiB in bytes.
const MiB = 1 << 20

// Leave is the value of a setting that tare does not set: the server's default.
const Leave = "default"

// OrLeave allows Leave beside what check allows.
func OrLeave(check func(string) error) func(string) error {
	return func(s string) error {
		if s == Leave {
			return nil
		}
		if err := check(s); err != nil {
			return fmt.Errorf("%w, or %s", err, Leave)
		}
		return nil
	}
}
