package csv

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/wire/metric"
)

// figure is what the heading of a column of figures says.
type figure struct {
	kind      string   // kindRate ...; empty: only a statistic
	statistic string   // wordMean, wordMedian, wordMin, wordMax or a quantile: "0.95"
	direction string   // wordRead or wordWrite
	arm       string   // the words that name an arm
	unit      string   // of known.units; empty: none
	rest      []string // words that are not known
	scale     float64
	two       bool // two kinds, two units or two statistics
}

// percentileWord matches "p95", "p(95)", "p99.9", "95th", "95%", "99p" and "95pct".
var percentileWord = regexp.MustCompile(`^(?:p ?\(?([0-9]{2,4}(?:\.[0-9]+)?)\)?|([0-9]{2}(?:\.[0-9]+)?) ?(?:th percentile|th|%|percentile|pct|p|分位数?|百分位))`)

// ofThousand is a factor before a rate: kIOPS, Mops.
var ofThousand = map[string]float64{"kiops": 1e3, "kops": 1e3, "ktps": 1e3, "kqps": 1e3, "krps": 1e3}

// bits matches units of bits, which only a capital letter tells from units of bytes.
var bits = regexp.MustCompile(`\b[KMGT]b(?:/s|ps|it)`)

// figureOf reads the heading of a column of figures word by word.
func figureOf(heading string) figure {
	f := figure{scale: 1}
	if m := bits.FindString(heading); m != "" {
		f.rest = append(f.rest, m)
	}
	for _, part := range partsOf(folded(heading)) {
		if u, ok := unitOf(part, f.kind); ok {
			f.setUnit(u, part)
			continue
		}
		f.words(part)
	}
	f.settle()
	return f
}

// settle draws what follows from all words together.
func (f *figure) settle() {
	u := known().units[f.unit]
	switch {
	case f.kind == kindBandwidth && f.unit == "" && len(f.rest) == 1: // bw_mib
		if size, ok := known().units[f.rest[0]+"/s"]; ok {
			f.unit, f.rest, f.scale = f.rest[0]+"/s", nil, size.Scale
		}
	case f.kind == "" && u.Base == "1/s":
		f.kind = kindRate
	case f.kind == "" && u.Base == "B/s", f.kind == kindRate && u.Base == "B/s" && !f.two:
		f.kind = kindBandwidth
	case f.kind == "" && u.Base == "s" && f.statistic != "":
		f.kind = kindLatency
	case f.kind == "" && u.Base == "s" && f.statistic == "" && f.arm == "" && len(f.rest) == 0 && len([]rune(f.unit)) > 2:
		f.kind = kindTime // a column "seconds"
	}
}

// partsOf splits a heading at brackets, commas and dashes.
func partsOf(name string) (out []string) {
	name = regexp.MustCompile(`p ?\(([0-9.]+)\)`).ReplaceAllString(name, "p$1")
	for _, p := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("()[],;:|", r) }) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// unitOf finds the unit that is the whole of a part. "min" and "h" are units in brackets only.
func unitOf(part, kind string) (units.Heading, bool) {
	switch {
	case part == "min" && kind != "":
		part = "minutes"
	case part == "h" && kind != "":
		part = "hours"
	}
	u, ok := known().units[part]
	return u, ok && (kind != "" || u.Base != "s" || len(part) > 1)
}

func (f *figure) setUnit(u units.Heading, name string) {
	switch name {
	case "min":
		name = "minutes"
	case "h":
		name = "hours"
	}
	f.two = f.two || f.unit != "" && known().units[f.unit] != u
	f.unit, f.scale = name, f.scale*u.Scale
}

// words reads the words of a part, the longest known one first.
func (f *figure) words(part string) {
	var unknown strings.Builder
	flush := func() {
		if w := strings.Trim(unknown.String(), " -./#"); w != "" {
			f.rest = append(f.rest, w)
		}
		unknown.Reset()
	}
	for rest := part; rest != ""; {
		rest = strings.TrimLeft(rest, " -.")
		if n := f.take(rest, part); n > 0 {
			flush()
			rest = rest[n:]
			continue
		}
		n := wordLength(rest)
		unknown.WriteString(" " + rest[:n])
		rest = rest[n:]
	}
	flush()
}

// wordLength is the length of the first word of a text, or of its first character where words have no blanks.
func wordLength(s string) int {
	_, first := utf8.DecodeRuneInString(s)
	n := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == '-' || unicode.Is(unicode.Han, r) })
	if n <= 0 {
		if r, _ := utf8.DecodeRuneInString(s); n < 0 && !unicode.Is(unicode.Han, r) {
			return len(s)
		}
		return max(first, 1)
	}
	return n
}

// take reads the known word at the beginning of a text and returns its length; 0: none is known.
func (f *figure) take(text, part string) int {
	if m := percentileWord.FindStringSubmatch(text); m != nil && ends(text, len(m[0])) {
		if q, ok := quantile(m[1] + m[2]); ok {
			f.setStatistic(q)
			return len(m[0])
		}
	}
	k := known()
	for n := prefixLength(text, k.longest); n > 0; n = shorter(text, n) {
		word := strings.TrimRight(text[:n], " .")
		if word == "" || !ends(text, n) {
			continue
		}
		if kinds := k.words[word]; kinds != nil {
			for _, kind := range kinds {
				f.word(kind, word)
			}
			return n
		}
		if u, ok := k.units[word]; ok && (f.kind != "" || f.statistic != "" || word == part || u.Base != "s") && (word != "h" && word != "s" || f.kind != "" || f.statistic != "") {
			f.setUnit(u, word)
			return n
		}
		if m := glued.FindStringSubmatch(word); m != nil { // lat95
			if q, ok := quantile(m[2]); ok {
				f.word(kindLatency, m[1])
				f.setStatistic(q)
				return n
			}
		}
	}
	return 0
}

// glued matches a latency with the number of its percentile: lat95.
var glued = regexp.MustCompile(`^(lat|latency|rt)p?([0-9]{2}(?:\.[0-9]+)?)$`)

// quantile converts the number of a percentile: 95 and 999 (p999) become "0.95" and "0.999".
func quantile(digits string) (string, bool) {
	if !strings.Contains(digits, ".") && len(digits) > 2 {
		digits = digits[:2] + "." + digits[2:]
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || x < 50 || x >= 100 {
		return "", false
	}
	return strconv.FormatFloat(x/100, 'g', 6, 64), true
}

// ends reports whether a word can end at n: words of letters end at other characters.
func ends(text string, n int) bool {
	if n >= len(text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:n])
	after, _ := utf8.DecodeRuneInString(text[n:])
	latin := func(r rune) bool { return r < 0x2e80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '/' }
	return !latin(before) || !latin(after)
}

func prefixLength(text string, runes int) int {
	for i := range text {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(text)
}

func shorter(text string, n int) int {
	_, size := utf8.DecodeLastRuneInString(text[:n])
	return n - size
}

// word adds a known word.
func (f *figure) word(kind, word string) {
	switch kind {
	case wordMean, wordMedian, wordMin, wordMax:
		f.setStatistic(kind)
	case wordRead, wordWrite:
		f.two = f.two || f.direction != "" && f.direction != kind
		f.direction = kind
	case wordArm:
		f.arm = strings.TrimSpace(f.arm + " " + word)
	case wordNothing, wordBesideArm:
	case kindRate, kindBandwidth, kindLatency, kindTime, kindQueries:
		f.two = f.two || f.kind != "" && f.kind != kind
		f.kind = kind
		if x, ok := ofThousand[word]; ok {
			f.scale *= x
		}
	}
}

// setStatistic sets the statistic. A mean of medians is none that is known; "avg latency (mean)" is one.
func (f *figure) setStatistic(s string) {
	f.two = f.two || f.statistic != "" && f.statistic != s
	f.statistic = s
}

// metric returns the metric of a figure; the zero Metric if its words say none. rated says that the table has a
// rate: then a statistic alone is one of the latency.
func (f figure) metric(rated bool) metric.Metric {
	base := known().units[f.unit].Base
	plain := f.statistic == "" || f.statistic == wordMean
	var m metric.Metric
	switch {
	case f.two || len(f.rest) > 0:
		return m
	case f.kind == kindRate && plain && (base == "" || base == "1/s"):
		if m = metric.Throughput; f.direction != "" {
			return metric.IOPS.Of(f.direction)
		}
		return m
	case f.kind == kindBandwidth && plain && (base == "" || base == "B/s"):
		m = metric.Bandwidth
	case f.kind == kindQueries && plain && base == "":
		return metric.Queries
	case f.kind == kindTime && plain && (base == "" || base == "s"):
		return metric.Time
	case f.kind == kindLatency && (base == "" || base == "s"), f.kind == "" && f.statistic != "" && base == "" && rated:
		m = latency(f.statistic)
	}
	if f.direction != "" && m.Name != "" {
		m = m.Of(f.direction)
	}
	return m
}

// latency is the metric of a statistic of the latency.
func latency(statistic string) metric.Metric {
	switch statistic {
	case "", wordMean:
		return metric.LatencyMean
	case wordMedian:
		return metric.P50
	case wordMin:
		return metric.LatencyMin
	case wordMax:
		return metric.LatencyMax
	}
	q, err := strconv.ParseFloat(statistic, 64)
	if err != nil {
		return metric.Metric{}
	}
	return metric.Quantile(q)
}

// Metric returns the metric of a name that people write, such as throughput for tps; the zero Metric for
// unknown names.
func Metric(name string) metric.Metric {
	f := figureOf(name)
	if f.arm != "" {
		return metric.Metric{}
	}
	return f.metric(true)
}

// column reads a heading: its name, and the unit that converts its numbers.
func column(heading string) Column {
	f := figureOf(heading)
	c := Column{Name: heading, scale: f.scale}
	if u, ok := known().units[f.unit]; ok && !f.two {
		c.Unit = u.Base
	} else if f.two {
		c.scale = 1
	}
	return c
}
