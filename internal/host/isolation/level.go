package isolation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/units"
)

// Parsers of levels.

// whole parses a whole number from low to high.
func whole(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", s, low, high)
	}
	return n, nil
}

// percent parses "25%" as 0.25.
func percent(s string) (float64, error) {
	digits, ok := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(x > 0 && x <= 100) {
		return 0, fmt.Errorf("%q is not a percentage from above 0%% to 100%%", s)
	}
	return x / 100, nil
}

// size parses bytes.
func size(s string) (uint64, error) {
	n, err := units.Size(s)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q is no bytes", s)
	}
	return uint64(n), err
}

// perSecond parses a rate of bytes, "10MiB/s", or of operations, "100/s".
func perSecond(s string) (n uint64, bytes bool, err error) {
	digits, ok := strings.CutSuffix(s, "/s")
	if ok {
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil && n > 0 {
			return n, false, nil
		}
		if n, err := size(digits); err == nil {
			return n, true, nil
		}
	}
	return 0, false, fmt.Errorf("%q is neither bytes such as 10MiB/s nor operations such as 100/s", s)
}

// check makes a Level.Check of a parser.
func check[T any](read func(string) (T, error)) func(string) error {
	return func(s string) error {
		_, err := read(s)
		return err
	}
}

// period is the kernel's default period of a quota, and the longest slice of time by which it
// grants I/O.
const period = 100 * time.Millisecond
