package cli

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/report"
)

// translation translates a sentence of tare's own before it is printed; nil: it stays as it is. A text that it does
// not know comes back unchanged.
type translation func(string) string

// of translates a text.
func (t translation) of(text string) string {
	if t == nil || text == "" {
		return text
	}
	return t(text)
}

// within translates a text and keeps the spaces around it.
func (t translation) within(text string) string {
	inner := strings.TrimSpace(text)
	if t == nil || inner == "" {
		return text
	}
	return strings.Replace(text, inner, t(inner), 1)
}

// longestChain bounds an error that is translated in parts: it may quote a file of others.
const longestChain = 2000 // bytes

// chain translates an error "a: b: c" as a whole or link by link, whichever leaves less English. Each line of it is an
// error of its own.
func (t translation) chain(text string) string {
	if t == nil {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = t.links(line)
	}
	return strings.Join(lines, "\n")
}

func (t translation) links(text string) string {
	whole := t.of(text)
	first, rest, ok := strings.Cut(text, ": ")
	if !ok || len(text) > longestChain || strings.HasSuffix(first, "; valid") { // names to choose from follow
		return whole
	}
	parts := t.of(first) + "：" + t.links(rest)
	if more := latin(parts) - latin(whole); more < 0 || more == 0 && whole != text && strings.Contains(whole, ": ") {
		return parts
	}
	return whole
}

// latin counts the letters of a text that are not Chinese.
func latin(text string) (n int) {
	for _, r := range text {
		if unicode.Is(unicode.Latin, r) {
			n++
		}
	}
	return n
}

// block translates the paragraphs of a text. A paragraph of indented lines, such as examples, keeps its lines, and of
// each translates the text behind the command.
func (t translation) block(text string) string {
	if t == nil {
		return text
	}
	text, end := strings.TrimRight(text, "\n"), text[len(strings.TrimRight(text, "\n")):]
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		if !strings.Contains("\n"+p, "\n ") {
			lines = []string{strings.Join(lines, " ")}
		}
		for k, line := range lines {
			if indent := len(line) - len(strings.TrimLeft(line, " ")); indent == 0 || lastColumn(line) > indent {
				lines[k] = t.line(line)
			}
		}
		paragraphs[i] = strings.Join(lines, "\n")
	}
	return strings.Join(paragraphs, "\n\n") + end
}

// line translates a line of help: all of it, or the text right of its last column.
func (t translation) line(line string) string {
	at := lastColumn(line)
	return line[:at] + t.of(line[at:])
}

// lines translates each line of a text.
func (t translation) lines(text string) string {
	if t == nil {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = t.line(line)
	}
	return strings.Join(lines, "\n")
}

// join puts a text behind a label that ends in a colon. The Chinese colon has its space within.
func (t translation) join(label painted, text string) string {
	if t != nil {
		return string(label) + text
	}
	return string(label) + " " + text
}

// mark is a punctuation mark of the language.
func (t translation) mark(english, chinese string) string {
	if t == nil {
		return english
	}
	return chinese
}

// names joins names, which are the same in every language.
func (t translation) names(all []string) string { return strings.Join(all, t.mark(", ", "、")) }

// writer returns a writer that translates each line. A Write has whole lines.
func (t translation) writer(to io.Writer) io.Writer {
	if t == nil {
		return to
	}
	return translator{to, t}
}

type translator struct {
	to io.Writer
	t  translation
}

func (w translator) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.t.lines(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

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

// ownSpace stands for a space of a translated text while kong wraps it: kong counts a wide character as one column.
const ownSpace = "\ue000"

// held replaces the spaces of a translated text, so that kong does not wrap it, except in indented lines.
func held(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) < len(line) {
			lines[i] = strings.ReplaceAll(line, " ", ownSpace)
		}
	}
	return strings.Join(lines, "\n")
}
