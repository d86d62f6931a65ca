package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// none stands where there is no number.
const none = "–"

// Percent prints a ratio (1.0 is equal) as a signed change: 0.969 is "-3.1 %".
func Percent(ratio float64) string { return withUnit(change(ratio, 1), "%") }

// PlusMinus prints a half-width given as a ratio: 0.018 is "±1.8 %".
func PlusMinus(half float64) string {
	if !finite(half) {
		return none
	}
	return "±" + withUnit(strings.TrimPrefix(change(1+math.Abs(half), 1), "+"), "%")
}

// Interval prints a ratio with its interval: "-3.1 % [-3.8, -2.4]"; nil is "–".
func Interval(r *record.Ratio) string {
	if r == nil {
		return none
	}
	d := digits(r)
	return withUnit(change(r.Ratio, d), "%") + " " + bounds(r.Low, r.High, d)
}

// Rate prints a number per second to three digits: "12.3k/s".
func Rate(perSecond float64) string { return withUnit(short(perSecond), "/s") }

// Duration prints seconds as a person says them: "250 ms", "45 s", "3 min 12 s".
func Duration(seconds float64) string {
	switch s := math.Abs(seconds); {
	case !finite(seconds):
		return none
	case s < 1:
		return trimmed(Latency(seconds))
	case s < 9.95:
		return strconv.FormatFloat(round(seconds, 1), 'f', -1, 64) + " s"
	case s < 90:
		return strconv.FormatFloat(seconds, 'f', 0, 64) + " s"
	case s < 3600:
		return pair(seconds, 60, "min", 1, "s")
	case s < 48*3600:
		return pair(seconds, 3600, "h", 60, "min")
	case s < 1e11:
		return pair(seconds, 86400, "d", 3600, "h")
	}
	return short(seconds) + " s"
}

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

// trimmed leaves out zeros behind the point: "50.0 ms" is "50 ms".
func trimmed(s string) string {
	number, unit, _ := strings.Cut(s, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return withUnit(number, unit)
}

// about prints a forecast of seconds no finer than it can be known.
func about(seconds float64) string {
	switch {
	case !finite(seconds) || seconds > 30*86400:
		return "over a month"
	case seconds < 60:
		return strconv.FormatFloat(max(5, 5*math.Ceil(seconds/5)), 'f', 0, 64) + " s"
	case seconds < 5400:
		return strconv.FormatFloat(math.Ceil(seconds/60), 'f', 0, 64) + " min"
	case seconds < 48*3600:
		return strconv.FormatFloat(math.Ceil(seconds/3600), 'f', 0, 64) + " h"
	}
	return strconv.FormatFloat(math.Ceil(seconds/86400), 'f', 0, 64) + " days"
}

// Latency prints seconds to three digits in the unit that fits: "412 µs".
func Latency(seconds float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	x := seconds * 1e9
	for len(units) > 1 && math.Abs(x) >= 999.5 {
		x, units = x/1000, units[1:]
	}
	return withUnit(short(x), units[0])
}

// Bytes prints bytes to three digits: "41.0 MiB".
func Bytes(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x := b
	for len(units) > 1 && math.Abs(x) >= 1023.5 {
		x, units = x/1024, units[1:]
	}
	if math.Abs(x) < 9.995e5 && x == math.Trunc(x) {
		return withUnit(strconv.FormatFloat(x, 'f', 0, 64), units[0])
	}
	return withUnit(short(x), units[0])
}

// size prints a ratio that stands for a size, such as a margin: 0.01 is "1 %".
func size(ratio float64) string {
	p := 100 * ratio
	if !finite(p) {
		return none
	}
	return strconv.FormatFloat(p, 'g', 3, 64) + " %"
}

// share prints a part of a whole: 0.081 is "8 %".
func share(part float64) string {
	if p := 100 * part; finite(p) && p > 0 && p < 9.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return trimmed(withUnit(short(math.Round(100*part)), "%"))
}

// digits is the number of decimals of an effect in percent: two where one
// would show an interval without width.
func digits(r *record.Ratio) int {
	if w := 100 * math.Abs(r.High-r.Low); w < 0.2 {
		return 2
	}
	return 1
}

func bounds(low, high float64, digits int) string {
	return "[" + change(low, digits) + ", " + change(high, digits) + "]"
}

// loss prints how much less a ratio is than 1, without a sign when it is:
// 0.969 [0.962, 0.976] is "3.1 %" and "[2.4, 3.8]". With gain it is the other
// way round.
func loss(r *record.Ratio, gain bool) (size, bounds string) {
	d := digits(r)
	if gain {
		return withUnit(unsigned(change(r.Ratio, d)), "%"),
			"[" + unsigned(change(r.Low, d)) + ", " + unsigned(change(r.High, d)) + "]"
	}
	return withUnit(unsigned(change(2-r.Ratio, d)), "%"),
		"[" + unsigned(change(2-r.High, d)) + ", " + unsigned(change(2-r.Low, d)) + "]"
}

func unsigned(s string) string { return strings.TrimPrefix(s, "+") }

// change is the number of percent of a ratio, signed, without its unit.
func change(ratio float64, digits int) string {
	p := 100 * (ratio - 1)
	switch a := math.Abs(p); {
	case !finite(p):
		return none
	case a >= 999.5:
		return signed(short(p))
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

// short prints a number to three digits with a decimal multiple: "12.3k".
func short(x float64) string {
	if !finite(x) {
		return none
	}
	a := math.Abs(x)
	multiples := []string{"", "k", "M", "G", "T"}
	for len(multiples) > 1 && a >= 999.5 {
		a, x, multiples = a/1000, x/1000, multiples[1:]
	}
	switch {
	case a >= 1e4 || a > 0 && a < 0.005:
		return strconv.FormatFloat(x, 'e', 1, 64) + multiples[0]
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64) + multiples[0]
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64) + multiples[0]
	case a == 0:
		return "0"
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + multiples[0]
}

// withUnit puts a unit behind a number; "–" has none. Units that start with a
// slash stand close.
func withUnit(s, unit string) string {
	switch {
	case strings.HasSuffix(s, none):
		return none
	case unit == "" || strings.HasPrefix(unit, "/"):
		return s + unit
	}
	return s + " " + unit
}

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
