package service

import (
	"fmt"
	"strconv"
	"strings"
)

// Size reads a number of bytes: a whole number with an optional K, M, G or T
// of 1024, as the servers read it, or KiB, MiB, GiB, TiB.
func Size(s string) (int64, error) {
	digits, shift := strings.TrimSuffix(s, "iB"), 0
	if n := len(digits); n > 0 {
		if i := strings.IndexByte("KMGT", digits[n-1]&^0x20); i >= 0 && digits[n-1] > '9' {
			digits, shift = digits[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift || shift == 0 && digits != s {
		return 0, fmt.Errorf("%q: want a size in bytes like 128M or 2GiB", s)
	}
	return n << shift, nil
}

// sizeFrom checks for a size of at least so many bytes.
func sizeFrom(least int64) func(string) error {
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

// wholeFrom checks for a whole number in a range.
func wholeFrom(low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q: want a whole number from %d to %d", s, low, high)
		}
		return nil
	}
}
