package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/report/export"
)

// Width counts the columns that a text takes on a terminal.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth is 0 for combining marks, 2 for the wide scripts of East Asia and
// for emoji, 1 for the rest. Host names and titles may hold any of them.
func RuneWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Yi),
		r >= 0x3000 && r <= 0x303e, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

// head is the longest beginning of a text that fits into n columns.
func head(s string, n int) string {
	for i, r := range s {
		if n -= RuneWidth(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// clip cuts a text to at most n columns and shows that it did.
func clip(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return head(s, n-1) + "…"
}

// clipMiddle is clip for names, of which the end may be all that differs.
func clipMiddle(s string, n int) string {
	if Width(s) <= n || n < 3 {
		return clip(s, n)
	}
	end := (n - 1) / 2
	tail := []rune(s)
	for Width(string(tail)) > end {
		tail = tail[1:]
	}
	return head(s, n-1-end) + "…" + string(tail)
}

// PadRight and PadLeft add spaces to a text until it is n columns wide; the name says on which side.
func PadRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Width(s))) }
func PadLeft(s string, n int) string  { return strings.Repeat(" ", max(0, n-Width(s))) + s }

// together are the places where a line must not end: between a number and
// its unit, inside a duration of two units, and inside an interval.
var together = regexp.MustCompile(`\d (min|h|d) \d+ (s|min|h)\b|(\d) (%|ns|µs|ms|s|min|h|d|days|B|[KMGT]iB)\b|\[[^] ]*, [^] ]*\]|\d %( \[[^] ]*, [^] ]*\])?`)

func glue(s string) string {
	return together.ReplaceAllStringFunc(s, func(m string) string { return strings.ReplaceAll(m, " ", "\u00a0") })
}

// wrap breaks a sentence into lines of at most n columns. Words longer than a
// line are cut into pieces.
func wrap(s sentence, n int) []sentence {
	n = max(n, 8)
	var lines []sentence
	var line sentence
	used := 0
	flush := func() {
		lines = append(lines, line)
		line, used = nil, 0
	}
	for _, w := range words(s) {
		if w.cells[0] == lineBreak {
			flush()
			continue
		}
		size := 0
		for _, c := range w.cells {
			size += Width(c.text)
		}
		if w.apart {
			size++
		}
		if used > 0 && used+size > n {
			flush()
		}
		if used > 0 && w.apart {
			line = append(line, cell{" ", w.cells[0].tone})
			used++
		}
		for _, c := range w.cells {
			for used+Width(c.text) > n {
				first := head(c.text, n-used)
				line = append(line, cell{first, c.tone})
				c.text = c.text[len(first):]
				flush()
			}
			line = append(line, c)
			used += Width(c.text)
		}
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// chunk is a part of a sentence within which no line ends; it may have several tones.
type chunk struct {
	cells sentence
	apart bool // a space stands before it
}

// words splits a sentence at its spaces and between wide characters.
func words(s sentence) (out []chunk) {
	apart, open := false, false // open: the last chunk goes on, unless a line may end behind it
	for _, c := range s {
		if c == lineBreak {
			out, apart, open = append(out, chunk{cells: sentence{lineBreak}}), false, false
			continue
		}
		for i, part := range strings.Split(glue(export.Clean(c.text)), " ") {
			if i > 0 {
				apart, open = true, false
			}
			for _, piece := range pieces(part) {
				next := cell{strings.ReplaceAll(piece, "\u00a0", " "), c.tone}
				if last := len(out) - 1; open && !breaks(out[last].cells.end(), next.text) {
					out[last].cells = append(out[last].cells, next)
				} else {
					out = append(out, chunk{sentence{next}, apart})
				}
				apart, open = false, true
			}
		}
	}
	return out
}

// end is the text of the last cell.
func (s sentence) end() string { return s[len(s)-1].text }

// pieces splits a text without spaces where a line may end.
func pieces(s string) (all []string) {
	start := 0
	for i := range s {
		if i > start && breaks(s[start:i], s[i:]) {
			all = append(all, s[start:i])
			start = i
		}
	}
	if start < len(s) {
		all = append(all, s[start:])
	}
	return all
}

// Characters with which no line begins, and with which none ends.
const (
	notFirst = "，。；：、）！？》”…%"
	notLast  = "（《“"
)

// breaks reports whether a line may end between two texts: beside a wide character, but for punctuation.
func breaks(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return (RuneWidth(a) == 2 || RuneWidth(b) == 2) && RuneWidth(b) > 0 && !strings.ContainsRune(notFirst, b) && !strings.ContainsRune(notLast, a)
}
