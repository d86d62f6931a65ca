package units

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// sizePattern has a number, the letter of a multiple and the rest of the unit.
var sizePattern = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)? ?([kmgtp]?)(i?b?)$`)

// Size reads a number of bytes as a user writes it, everywhere: a number from 0 on, and k, M, G, T or P in any case, with or
// without B, i or iB. The letters are powers of 1024, as servers, Docker and fio read them. A number alone counts bytes. A
// fraction is rounded down.
func Size(text string) (int64, error) {
	m := sizePattern.FindStringSubmatch(strings.ToLower(text))
	if m == nil || m[3] == "" && (m[2] != "" || strings.HasPrefix(m[4], "i")) {
		return 0, notSize(text)
	}
	unit := int64(1) << (10 * (strings.Index("kmgtp", m[3]) + 1))
	if m[3] == "" {
		unit = 1
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	part, err2 := strconv.ParseFloat("0"+m[2], 64)
	if err != nil || err2 != nil || n > math.MaxInt64/unit {
		return 0, notSize(text)
	}
	if n = n*unit + int64(part*float64(unit)); n < 0 { // above the largest number
		return 0, notSize(text)
	}
	return n, nil
}

func notSize(text string) error { return fmt.Errorf("%q is not a size; write %s", text, SizeForms) }

// SizeForms are examples for errors.
const SizeForms = "64M, 64MiB or 1.5G"

// Bytes writes bytes as a whole number of the largest unit that divides them: 64MiB. Size reads it back.
func Bytes(n int64) string {
	for power, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*power); n >= size && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
