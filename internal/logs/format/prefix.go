package format

import "bytes"

// prefixes are what something put before the lines of a log: a quotation or a diff
// its mark, a runner the time and the level, a collector the name of the host. In
// each, a run of digits is one 0: it may be another number on every line.
type prefixes []string

// longestPrefix bounds it: what is longer is a sentence about a log.
const longestPrefix = 100

// learn finds what stands before the lines of a log by its beginning: before two
// lines that only a tool writes, unless two have nothing before them; and before the
// first report line or heading, which may be alone. What comes later changes nothing of that:
// a log that is cut off is read as the whole one is.
func (l Tools) learn(head []byte) (out prefixes) {
	counts := map[string]int{}
	report := ""
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		line = unstamp(line)
		at, first := l.words(line)
		if at < 0 {
			continue
		}
		marks := shape(bytes.TrimRight(line[:at], " \t"))
		if report == "" && marks != "" && first {
			report = marks
			out = append(out, marks)
		}
		if counts[marks]++; counts[marks] == 2 {
			if marks != "" && marks != report {
				out = append(out, marks)
			}
			return out
		}
	}
	return out
}

// words is where on a line the words of a tool that is read begin, -1 for nowhere, and
// whether a report begins there that may be alone.
func (l Tools) words(line []byte) (first int, alone bool) {
	first = -1
	if !bytes.ContainsFunc(line, func(r rune) bool { return r >= 'A' }) {
		return first, false // numbers only
	}
	for _, t := range l {
		if t.Kind == Unknown {
			continue
		}
		for _, s := range t.Begins {
			if at := bytes.Index(line, []byte(s)); at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}
		if t.Report == nil {
			continue
		}
		if at := t.Report(line); at >= 0 && (first < 0 || at <= first) {
			first, alone = at, true
		}
	}
	if end := bytes.TrimRight(line, " \t\r"); first < 0 && len(end) > 0 && end[len(end)-1] == '{' {
		first = len(end) - 1 // of JSON
	}
	if first < 0 || first > longestPrefix || bytes.ContainsAny(line[:first], `{}";=`) || first > 0 && isWord(line[first-1]) {
		return -1, false
	}
	return first, alone
}

func isWord(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' || c-'0' <= 9 }

// shape is a prefix without its numbers; that of nothing but blanks is empty.
func shape(b []byte) string {
	if len(bytes.TrimSpace(b)) == 0 {
		return ""
	}
	out := make([]byte, 0, len(b))
	for i, c := range b {
		if c-'0' > 9 {
			out = append(out, c)
		} else if i == 0 || b[i-1]-'0' > 9 {
			out = append(out, '0')
		}
	}
	return string(out)
}

// bare is a line without its prefix and one blank behind it.
func (p prefixes) bare(line []byte) []byte {
	for _, marks := range p {
		if n := length(marks, line); n > 0 {
			return bytes.TrimPrefix(line[n:], []byte(" "))
		}
	}
	return line
}

// length is how much of a line the marks are; 0 if it does not begin with them.
func length(marks string, line []byte) int {
	i := 0
	for _, c := range []byte(marks) {
		switch {
		case i == len(line) || c != '0' && c != line[i] || c == '0' && line[i]-'0' > 9:
			return 0
		case c != '0':
			i++
		default:
			for i < len(line) && line[i]-'0' <= 9 {
				i++
			}
		}
	}
	return i
}

// unfold takes a table apart whose columns are reports, one line of each in every
// row, as people set them side by side: the first column, and behind it the next.
// Text without such a table stays as it is.
func (l Tools) unfold(text []byte) []byte {
	var columns [][]byte
	found := false
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		cells := bytes.Split(bytes.Trim(bytes.TrimSpace(line), "|"), []byte(" | "))
		if row := bytes.TrimSpace(line); len(row) < 3 || row[0] != '|' || row[len(row)-1] != '|' || columns != nil && len(cells) != len(columns) {
			cells = [][]byte{bytes.TrimRight(line, "\n")}
		}
		for len(columns) < len(cells) {
			columns = append(columns, nil)
		}
		for i, c := range cells {
			at, _ := l.words(bytes.TrimSpace(c))
			found = found || len(cells) > 1 && at == 0
			columns[i] = append(append(columns[i], c...), '\n')
		}
	}
	if !found {
		return text
	}
	return bytes.Join(columns, nil)
}
