package importer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// label is the text above a report: headings, the command that made the report, and other words.
type label struct {
	headings [7][]string // by level; level 0 has lines that look like a heading
	command  []string
	words    []string
}

// all returns the words of a label in reading order.
func (l *label) all() (out []string) {
	for _, h := range l.headings[1:] {
		out = append(out, h...)
	}
	return append(append(append(out, l.headings[0]...), l.words...), l.command...)
}

var (
	markdownHeading = regexp.MustCompile(`^(#{1,6})\s*\S`)
	htmlHeading     = regexp.MustCompile(`(?i)^<h([1-6])\b`)
)

// level returns the level of a heading, 0 for a line that only looks like a heading, -1 for others.
func level(text string) int {
	if commandOf(text) != nil {
		return -1
	}
	if m := markdownHeading.FindStringSubmatch(text); m != nil {
		return len(m[1])
	}
	if m := htmlHeading.FindStringSubmatch(text); m != nil {
		return int(m[1][0] - '0')
	}
	bare := strings.Trim(text, "*_ ")
	if strings.HasSuffix(bare, ":") || strings.HasSuffix(bare, "：") || bare != text && len(bare) < len(text)-1 ||
		strings.HasPrefix(text, "==") || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "//") ||
		len(strings.Fields(text)) <= 4 && len(text) <= 60 && !strings.ContainsAny(text, "=|{};") {
		return 0
	}
	return -1
}

// add adds a line of the text above a report. Above the first report only headings and commands count:
// other text there is about the page.
func (l *label) add(text string, first bool) {
	if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") || text == "..." {
		return
	}
	if c := commandOf(text); c != nil {
		l.command = c
		return
	}
	words := wordsOf(text)
	switch n := level(text); {
	case n > 0:
		for i := n; i < len(l.headings); i++ {
			l.headings[i] = nil
		}
		l.headings[n], l.headings[0], l.words = words, nil, nil
	case len(words) == 0:
	case n == 0 && first:
		l.headings[0] = words
	case n == 0:
		l.headings[0] = append(l.headings[0], words...)
	case !first:
		l.words = append(l.words, words...)
	}
}

// mostWords bounds the words of a label.
const mostWords = 400

// labels returns the label of each run in a file.
func labels(runs []*observed.Run, asides []format.Aside) map[*observed.Run]label {
	out := map[*observed.Run]label{}
	byLine := slices.Clone(runs)
	slices.SortStableFunc(byLine, func(a, b *observed.Run) int { return cmp.Compare(a.Line, b.Line) })
	now, first, last := label{}, true, 0
	for i, x := range byLine {
		if i > 0 && x.Line == last {
			out[x] = now // another run of the same report
			continue
		}
		gap := label{headings: now.headings}
		gap.headings[0] = nil
		heading := false
		for ; len(asides) > 0 && asides[0].Line < x.Line; asides = asides[1:] {
			if text := asides[0].Text; text != "" && len(gap.words) < mostWords {
				gap.add(text, first)
				heading = heading || level(text) > 0
			}
		}
		if !heading && len(gap.headings[0])+len(gap.words) == 0 { // nothing new: the label before still holds
			gap.headings[0], gap.words = now.headings[0], now.words
		}
		if gap.command == nil {
			gap.command = now.command
		}
		now, first, last = gap, false, x.Line
		out[x] = now
	}
	return out
}

// longestName bounds the part of a load's name that comes from a label, in bytes.
const longestName = 60

// tellApart makes different loads of reports with equal settings if the text above them differs, with a
// warning. Otherwise they would count as repeats.
func (r *Result) tellApart(arm, path string, runs []*observed.Run, asides []format.Aside) {
	if len(asides) == 0 || len(runs) < 2 {
		return
	}
	var keys []string
	same := map[string][]*observed.Run{}
	for _, x := range runs {
		key := x.Arm + "\n" + x.Sub + "\n" + loadSettings(x, nil)
		if same[key] == nil {
			keys = append(keys, key)
		}
		same[key] = append(same[key], x)
	}
	labelOf := labels(runs, asides)
	for _, key := range keys {
		list := same[key]
		var words [][]string
		for _, x := range list {
			l := labelOf[x]
			words = append(words, l.all())
		}
		names := differing(words)
		if names == nil {
			continue
		}
		for i, x := range list {
			x.Sub = strings.TrimSpace(x.Sub + " " + names[i])
		}
		r.warn(arm, path, format.Warning{Line: list[1].Line,
			Text: differentLoads(shortened(names)), Remedy: callRuns})
	}
}

// differing returns, for each list, the first words that not all lists have; nil if the lists are the
// same.
func differing(lists [][]string) []string {
	alike := true
	counts := map[string]int{}
	for _, l := range lists {
		alike = alike && slices.Equal(l, lists[0])
		for _, w := range slices.Compact(slices.Sorted(slices.Values(l))) {
			counts[w]++
		}
	}
	if alike {
		return nil
	}
	out := make([]string, len(lists))
	for i, l := range lists {
		seen := map[string]bool{}
		for _, w := range l {
			if counts[w] == len(lists) || seen[w] || len(out[i])+len(w) >= longestName {
				continue
			}
			seen[w] = true
			out[i] = strings.TrimSpace(out[i] + " " + w)
		}
	}
	if !slices.ContainsFunc(out, func(s string) bool { return s != out[0] }) {
		return nil // only the order differs
	}
	return out
}

// shortened returns the first few names, each once.
func shortened(names []string) []string {
	var list []string
	for _, n := range names {
		if n == "" {
			n = withoutWords
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if len(list) > 4 {
		list = append(list[:4], "...")
	}
	return list
}
