package cli

import (
	"strings"
	"unicode"

	"github.com/tarelab/tare/internal/report"
)

// lastColumn is the index after the last two or more spaces of a line: there begins the text of its last column.
func lastColumn(line string) int {
	at := strings.LastIndex(strings.TrimRight(line, " "), "  ")
	if at < 0 {
		return 0
	}
	return at + len("  ")
}

// fold breaks a line that is wider than columns. A break is at a space or beside a wide character, and the further lines
// begin below the line's last column.
func fold(line string, columns int) []string {
	indent := report.Width(line[:lastColumn(line)])
	if indent > columns/2 {
		indent = columns / 4
	}
	var folded []string
	for lead := ""; ; lead = strings.Repeat(" ", indent) {
		line = lead + line
		end := breakAt(line, len(lead), columns)
		folded = append(folded, strings.TrimRight(line[:end], " "))
		if line = strings.TrimLeft(line[end:], " "); line == "" {
			return folded
		}
	}
}

// breakAt is the index at which a line is broken: the last one that fits into columns, or else the first one after.
// There is no break in the first bytes.
func breakAt(line string, first, columns int) int {
	begin := max(first, lastColumn(line))
	best, at, before := 0, 0, ' '
	for i, r := range line {
		if i > begin && breaks(before, r) {
			if at > columns && best > 0 {
				return best
			}
			best = i
		}
		at += report.RuneWidth(r)
		before = r
	}
	if at <= columns || best == 0 {
		return len(line)
	}
	return best
}

// breaks reports whether a line may be broken between two characters. A closing mark does not begin a line, an
// opening one does not end it.
func breaks(before, after rune) bool {
	switch {
	case before == ' ':
		return after != ' '
	case after == ' ', unicode.In(after, unicode.Pe, unicode.Pf, unicode.Po), unicode.In(before, unicode.Ps, unicode.Pi):
		return false
	}
	return report.RuneWidth(before) == 2 || report.RuneWidth(after) == 2
}
