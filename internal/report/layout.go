package report

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/tarelab/tare/internal/report/export"
)

// width counts the columns that a text takes on a terminal.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 0 for combining marks, 2 for the wide scripts of East Asia and
// for emoji, 1 for the rest. Host names and titles may hold any of them.
func runeWidth(r rune) int {
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
		if n -= runeWidth(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// clip cuts a text to at most n columns and shows that it did.
func clip(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return head(s, n-1) + "…"
}

func padRight(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }
func padLeft(s string, n int) string  { return strings.Repeat(" ", max(0, n-width(s))) + s }

// together are the places where a line must not end: between a number and
// its unit, and inside an interval.
var together = regexp.MustCompile(`(\d) (%|ns|µs|ms|s|min|h|d|days|B|[KMGT]iB)\b|\[[^] ]*, [^] ]*\]|\d %( \[[^] ]*, [^] ]*\])?`)

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
		if w[0] == lineBreak {
			flush()
			continue
		}
		size := 0
		for _, c := range w {
			size += width(c.text)
		}
		if used > 0 && used+1+size > n {
			flush()
		}
		if used > 0 {
			line = append(line, cell{" ", w[0].tone})
			used++
		}
		for _, c := range w {
			for used+width(c.text) > n {
				first := head(c.text, n-used)
				line = append(line, cell{first, c.tone})
				c.text = c.text[len(first):]
				flush()
			}
			line = append(line, c)
			used += width(c.text)
		}
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// words splits a sentence at its spaces; a word may have several tones.
func words(s sentence) []sentence {
	var out []sentence
	var word sentence
	for _, c := range s {
		if c == lineBreak {
			if len(word) > 0 {
				out, word = append(out, word), nil
			}
			out = append(out, sentence{lineBreak})
			continue
		}
		for i, part := range strings.Split(glue(export.Clean(c.text)), " ") {
			if i > 0 && len(word) > 0 {
				out, word = append(out, word), nil
			}
			if part != "" {
				word = append(word, cell{strings.ReplaceAll(part, "\u00a0", " "), c.tone})
			}
		}
	}
	if len(word) > 0 {
		out = append(out, word)
	}
	return out
}

// split is a cell of an interval column in its two parts.
func split(s string) (estimate, rest string) {
	if i := strings.IndexByte(s, '['); i > 0 {
		return strings.TrimRight(s[:i], " "), s[i:]
	}
	return s, ""
}
