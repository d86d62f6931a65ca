package db

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/units"
)

// Size reads a size in bytes.
func Size(s string) (int64, error) {
	n, err := units.Size(s)
	if err != nil || n > 1<<62 {
		return 0, Want(s, "a size such as "+units.SizeForms)
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
			return Want(s, "at least %d bytes", least)
		}
		return nil
	}
}

// WholeFrom allows whole numbers from low to high.
func WholeFrom(low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return Want(s, "a whole number from %d to %d", low, high)
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

// IsWord is true for a word of a server's: letters, digits and underscores.
func IsWord(s string) bool {
	const longest = 40
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return s != "" && len(s) <= longest && (s[0] < '0' || s[0] > '9')
}

// AnyWord allows all words: newer versions have more than the known ones, and the program says which it takes.
func AnyWord(known ...string) func(string) error {
	return func(s string) error {
		near := func(word string) bool { return strings.EqualFold(word, s) }
		if slices.Contains(known, s) || IsWord(s) && s != Leave && !slices.ContainsFunc(known, near) {
			return nil
		}
		return fmt.Errorf("%q: want one of %s, or another word of the server's", s, strings.Join(known, ", "))
	}
}
