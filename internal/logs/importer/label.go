package importer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// label is what stands above a report and tells it from others: headings, and the command that made it. Prose says
// nothing.
type label struct {
	headings [7]string // by level; level 0 has lines that look like a heading
	command  string
}

// words returns the words of a label in reading order, without the number of a run.
func (l *label) words() (out []string) {
	for _, h := range append(l.headings[1:len(l.headings):len(l.headings)], l.headings[0]) {
		for _, w := range strings.FieldsFunc(strings.ToLower(h), betweenWords) {
			if w = strings.Trim(w, ".:#=-_/"); w != "" {
				out = append(out, w)
			}
		}
	}
	return append(out, optionsOf(l.command)...)
}

func betweenWords(r rune) bool {
	return strings.ContainsRune(" \t,;()[]{}\"'`!?*|<>~&。，：；（）、", r)
}

var (
	markdownHeading = regexp.MustCompile(`^(#{1,6})\s*\S`)
	htmlHeading     = regexp.MustCompile(`(?i)^<h([1-6])\b`)
)

// level returns the level of a heading, 0 for a line that only looks like a heading, -1 for others.
func level(text string) int {
	if commandOf(text) != "" || moment().MatchString(text) {
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
		len(strings.Fields(text)) <= 4 && len(text) <= 60 && !strings.ContainsAny(text, "|{};") {
		return 0
	}
	return -1
}

// add adds a line of the text above a report.
func (l *label) add(text string) {
	if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") || text == "..." {
		return
	}
	if commandOf(text) != "" {
		l.command = commandOf(text)
		return
	}
	n := level(text)
	text, _ = unnumbered(tag().ReplaceAllString(text, " "))
	switch {
	case n > 0:
		for i := n; i < len(l.headings); i++ {
			l.headings[i] = ""
		}
		l.headings[n], l.headings[0] = text, ""
	case n == 0:
		l.headings[0] = strings.TrimSpace(l.headings[0] + " " + text)
	}
}

// mostBytes bounds the headings of one report.
const mostBytes = 4000

// labels returns the label of each run in a file.
func labels(runs []*observed.Run, asides []format.Aside) map[*observed.Run]label {
	out := map[*observed.Run]label{}
	byLine := slices.Clone(runs)
	slices.SortStableFunc(byLine, func(a, b *observed.Run) int { return cmp.Compare(a.Line, b.Line) })
	now, last := label{}, 0
	for i, x := range byLine {
		if i > 0 && x.Line == last {
			out[x] = now // another run of the same report
			continue
		}
		gap := label{headings: now.headings}
		gap.headings[0] = ""
		heading, number := false, ""
		for ; len(asides) > 0 && asides[0].Line < x.Line; asides = asides[1:] {
			if text := asides[0].Text; text != "" && len(gap.headings[0]) < mostBytes {
				gap.add(text)
				heading = heading || level(text) > 0
				if _, n := unnumbered(text); n != "" && level(text) >= 0 {
					number = n
				}
			}
		}
		if !heading && gap.headings[0] == "" { // nothing new: the label before still holds
			gap.headings[0] = now.headings[0]
		}
		if gap.command == "" {
			gap.command = now.command
		}
		x.Heading = number
		now, last = gap, x.Line
		out[x] = now
	}
	return out
}

// longestName bounds the part of a load's name that comes from a label, in bytes.
const longestName = 60

// tellApart makes different loads of reports with equal settings if the headings above them differ, with a
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
			words = append(words, l.words())
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
