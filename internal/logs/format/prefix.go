package format

import "bytes"

// prefixes are texts that stand before the lines of a log: the mark of a quotation or a diff, a CI
// runner's time and level, a log collector's name of the host. Each run of digits in them is written
// as one 0, because it may differ on every line.
type prefixes []string

// longestPrefix bounds a prefix in bytes: longer ones are sentences about a log.
const longestPrefix = 100

// learn finds the prefixes of a log from its beginning: a text that stands before two lines of a tool,
// unless two such lines have no prefix, and a text before the first report line, which may be the
// only one. Later lines change nothing, so that a truncated log is read like the whole one.
func (l Tools) learn(head []byte) (out prefixes) {
	counts := map[string]int{}
	report := ""
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		line = unstamp(line)
		at, first := l.wordsAt(line)
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

// wordsAt returns where on a line the words of a tool with a reader begin, -1 for nowhere, and whether
// they are a report that may be the only one of its file.
func (l Tools) wordsAt(line []byte) (first int, alone bool) {
	first = -1
	if !bytes.ContainsFunc(line, func(r rune) bool { return r >= 'A' }) {
		return first, false // no letters
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
		if t.ReportAt == nil {
			continue
		}
		if at := t.ReportAt(line); at >= 0 && (first < 0 || at <= first) {
			first, alone = at, true
		}
	}
	if end := bytes.TrimRight(line, " \t\r"); first < 0 && len(end) > 0 && end[len(end)-1] == '{' {
		first = len(end) - 1 // a JSON document
	}
	if first < 0 || first > longestPrefix || bytes.ContainsAny(line[:first], `{}";=`) || first > 0 && isWord(line[first-1]) {
		return -1, false
	}
	return first, alone
}

func isWord(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' || c-'0' <= 9 }

// shape writes each run of digits as one 0. A prefix of blanks becomes empty.
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

// bare removes the prefix of a line and one blank behind it.
func (p prefixes) bare(line []byte) []byte {
	for _, marks := range p {
		if n := length(marks, line); n > 0 {
			return bytes.TrimPrefix(line[n:], []byte(" "))
		}
	}
	return line
}

// length returns the length of a prefix at the beginning of a line; 0: the line begins otherwise.
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

// unfold rewrites a table whose columns are reports side by side, each row with one line of each
// report: the columns follow one another. Other text stays as it is.
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
			at, _ := l.wordsAt(bytes.TrimSpace(c))
			found = found || len(cells) > 1 && at == 0
			columns[i] = append(append(columns[i], c...), '\n')
		}
	}
	if !found {
		return text
	}
	return bytes.Join(columns, nil)
}
