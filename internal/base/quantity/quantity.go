// Package quantity prints numbers for people: percent, durations, rates and bytes, with no more digits
// than are known. It does not know what the numbers are about.
package quantity

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// None is printed where there is no number.
const None = "–"

// Percent prints a ratio as a signed change: 0.969 is "-3.1 %", 1 is "0.0 %".
func Percent(ratio float64) string { return WithUnit(Change(ratio, 1), "%") }

// PlusMinus prints a half-width given as a ratio: 0.018 is "±1.8 %".
func PlusMinus(half float64) string {
	if !Finite(half) {
		return None
	}
	return "±" + WithUnit(strings.TrimPrefix(Change(1+math.Abs(half), 1), "+"), "%")
}

// Interval prints a ratio with its interval: "-3.1 % [-3.8, -2.4]"; nil is "–".
func Interval(r *record.Ratio) string {
	if r == nil {
		return None
	}
	estimate, bounds := Parts(r)
	return estimate + " " + bounds
}

// Parts are the estimate and the bounds of an Interval.
func Parts(r *record.Ratio) (estimate, bounds string) {
	d := Digits(r)
	return WithUnit(Change(r.Ratio, d), "%"), Bounds(r.Low, r.High, d)
}

// Rate prints a number per second to three digits: "12.3k/s".
func Rate(perSecond float64) string { return WithUnit(Short(perSecond), "/s") }

// Duration prints seconds in the units that people use: "250 ms", "45 s", "3 min 12 s".
func Duration(seconds float64) string {
	switch s := math.Abs(seconds); {
	case !Finite(seconds):
		return None
	case s < 1:
		return Trimmed(Latency(seconds))
	case s < 9.95:
		return strconv.FormatFloat(Round(seconds, 1), 'f', -1, 64) + " s"
	case s < 90:
		return strconv.FormatFloat(seconds, 'f', 0, 64) + " s"
	case s < 3600:
		return pair(seconds, 60, "min", 1, "s")
	case s < 48*3600:
		return pair(seconds, 3600, "h", 60, "min")
	case s < 1e11:
		return pair(seconds, 86400, "d", 3600, "h")
	}
	return Short(seconds) + " s"
}

// pair prints seconds in two units, as "3 min 12 s". big and small are the units in seconds.
func pair(seconds, big float64, bigUnit string, small float64, smallUnit string) string {
	n := math.Round(math.Abs(seconds) / small)
	per := big / small
	s := strconv.FormatFloat(math.Floor(n/per), 'f', 0, 64) + " " + bigUnit
	if rest := math.Mod(n, per); rest > 0 {
		s += " " + strconv.FormatFloat(rest, 'f', 0, 64) + " " + smallUnit
	}
	if seconds < 0 {
		s = "-" + s
	}
	return s
}

// Trimmed removes zeros at the end of a decimal fraction: "50.0 ms" becomes "50 ms".
func Trimmed(s string) string {
	number, unit, _ := strings.Cut(s, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return WithUnit(number, unit)
}

// AboutIn prints a forecast of seconds, rounded up.
func AboutIn(c messages.Catalog, seconds float64) string {
	switch up := RoundedUp(seconds); {
	case !Finite(seconds) || seconds > 30*86400:
		return c.Text("time.long")
	case seconds < 60:
		return strconv.FormatFloat(up, 'f', 0, 64) + " s"
	case seconds < 5400:
		return c.Text("time.minutes", "n", strconv.FormatFloat(up/60, 'f', 0, 64))
	case seconds < 48*3600:
		return strconv.FormatFloat(up/3600, 'f', -1, 64) + " h"
	default:
		return c.Text("time.days", "n", strconv.FormatFloat(up/86400, 'f', 0, 64))
	}
}

// RoundedUp rounds a forecast of seconds up to 5 s, minutes, half hours, hours or days, because a forecast is not more precise.
func RoundedUp(seconds float64) float64 {
	unit := 86400.0
	switch {
	case seconds < 60:
		unit = 5
	case seconds < 5400:
		unit = 60
	case seconds < 10*3600:
		unit = 1800
	case seconds < 48*3600:
		unit = 3600
	}
	return max(5, unit*math.Ceil(seconds/unit))
}

// Latency prints seconds to three digits in the unit that fits: "412 µs".
func Latency(seconds float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	x := seconds * 1e9
	for len(units) > 1 && math.Abs(x) >= 999.5 {
		x, units = x/1000, units[1:]
	}
	return WithUnit(Short(x), units[0])
}

// Bytes prints bytes to three digits: "41.0 MiB".
func Bytes(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x := b
	for len(units) > 1 && math.Abs(x) >= 1023.5 {
		x, units = x/1024, units[1:]
	}
	if math.Abs(x) < 9.995e5 && x == math.Trunc(x) {
		return WithUnit(strconv.FormatFloat(x, 'f', 0, 64), units[0])
	}
	return WithUnit(Short(x), units[0])
}

// Size prints a ratio without a sign, such as a margin: 0.01 is "1 %".
func Size(ratio float64) string {
	p := 100 * ratio
	if !Finite(p) {
		return None
	}
	return strconv.FormatFloat(p, 'g', 3, 64) + " %"
}

// Share prints a part of a whole: 0.081 is "8 %".
func Share(part float64) string {
	if p := 100 * part; Finite(p) && p > 0 && p < 9.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return Trimmed(WithUnit(Short(math.Round(100*part)), "%"))
}

// Digits returns the number of decimals with which an effect is printed in percent: two if the interval
// is so narrow that both bounds would look the same, zero if it is 20 % wide or more.
func Digits(r *record.Ratio) int {
	switch w := 100 * math.Abs(r.High-r.Low); {
	case w < 0.2:
		return 2
	case w >= 20:
		return 0
	case r.Low > 1 && roundsToZero(r.Low) || r.High < 1 && roundsToZero(r.High):
		return 2 // the interval excludes 0 %, and a bound printed as 0.0 would hide that
	}
	return 1
}

// roundsToZero reports whether a bound rounds to 0.0 %.
func roundsToZero(bound float64) bool { return 100*math.Abs(bound-1) < 0.05 }

// Bounds prints an interval of ratios in percent: "[-3.8, -2.4]".
func Bounds(low, high float64, digits int) string {
	return "[" + Change(low, digits) + ", " + Change(high, digits) + "]"
}

// Unsigned removes a plus sign.
func Unsigned(s string) string { return strings.TrimPrefix(s, "+") }

// Change prints a ratio as a signed change in percent, without the unit.
func Change(ratio float64, digits int) string {
	p := 100 * (ratio - 1)
	switch a := math.Abs(p); {
	case !Finite(p):
		return None
	case a >= 1e9:
		return signed(Short(p))
	case a >= 999.5:
		p, digits = Round(p, 3), 0
	case a >= 99.95:
		digits = 0
	}
	s := strconv.FormatFloat(p, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return signed(s)
}

func signed(s string) string {
	if strings.HasPrefix(s, "-") {
		return s
	}
	return "+" + s
}

// Short prints a number to three digits with a decimal prefix (k, M, G, T): "12.3k".
func Short(x float64) string {
	if !Finite(x) {
		return None
	}
	a := math.Abs(x)
	prefixes := []string{"", "k", "M", "G", "T"}
	for len(prefixes) > 1 && a >= 999.5 {
		a, x, prefixes = a/1000, x/1000, prefixes[1:]
	}
	switch {
	case a >= 1e4 || a > 0 && a < 0.005:
		return strconv.FormatFloat(x, 'e', 1, 64) + prefixes[0]
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64) + prefixes[0]
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64) + prefixes[0]
	case a == 0:
		return "0"
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + prefixes[0]
}

// WithUnit adds a unit to a number, after a blank unless the unit begins with a slash. None gets no
// unit.
func WithUnit(s, unit string) string {
	switch {
	case strings.HasSuffix(s, None):
		return None
	case unit == "" || strings.HasPrefix(unit, "/"):
		return s + unit
	}
	return s + " " + unit
}

// Round rounds to a number of decimals.
func Round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

// Finite reports whether x is neither NaN nor infinite.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Count prints a number of things whose plural ends in s: "1 run", "3 runs".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
