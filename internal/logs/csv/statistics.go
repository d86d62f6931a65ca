package csv

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// rowsAside finds the rows that are no runs: statistics of other rows, such as their mean.
type rowsAside struct {
	numbered []bool     // by column: a column of runs of which some have numbers
	constant [][]string // by column: the words that all rows have
	words    []string   // what the rows found are called
	first    int        // line of the first
	rows     int
}

// learn looks at all rows for what tells statistics from runs.
func (a *rowsAside) learn(t *tableReader) {
	a.numbered, a.constant = make([]bool, len(t.columns)), make([][]string, len(t.columns))
	for i, m := range t.meanings {
		if m.metric.Name != "" {
			continue
		}
		for k, row := range t.rows {
			words := wordsOf(row.Text[i])
			if a.numbered[i] = a.numbered[i] || m.role == roleRun && strings.ContainsFunc(row.Text[i], unicode.IsDigit); k == 0 {
				a.constant[i] = words
			}
			a.constant[i] = slices.DeleteFunc(slices.Clone(a.constant[i]), func(w string) bool { return !slices.Contains(words, w) })
		}
	}
}

// is reports whether a row is a statistic, whichever column says so.
func (a *rowsAside) is(t *tableReader, row Row) bool {
	for i, m := range t.meanings {
		text := row.Text[i]
		if m.metric.Name != "" || text == "" {
			continue
		}
		name := statisticOf(text)
		switch m.role {
		case roleArm, roleLoad, roleRun, roleHost:
			if name == "" {
				name = statisticWithin(wordsOf(text), a.constant[i])
			}
		}
		if name == "" && a.numbered[i] && !strings.ContainsFunc(text, unicode.IsDigit) {
			name = text
		}
		if name == "" {
			continue
		}
		if a.rows++; a.rows == 1 {
			a.first = row.Line
		}
		if !slices.Contains(a.words, name) && len(a.words) < 6 {
			a.words = append(a.words, name)
		}
		return true
	}
	return false
}

func (a *rowsAside) warn(w *format.Warnings) {
	if a.rows > 0 {
		w.Add(a.first, statisticRows(a.rows, a.words), record.Said{})
	}
}

// besideStatistic matches what may stand beside the word of a statistic: numbers, signs, "of 3 runs".
var besideStatistic = regexp.MustCompile(`^(?:of|the|over|all|for|runs?|values?|samples?|n|\d+|次|轮|±|=|:|\+|-|/|\(|\)|%|和|与|and|\.)$`)

// wordsOf splits a field into words in small letters; Chinese characters that belong together are one word.
func wordsOf(field string) []string {
	return strings.FieldsFunc(folded(field), func(r rune) bool { return strings.ContainsRune(" ()[]:;,=±+*|\"'", r) })
}

// statisticOf returns the name of the statistic that is all that a field says; empty: it says other things.
func statisticOf(field string) string {
	k, name := known(), folded(field)
	if k.is(rowStatistic, name) || k.is(rowStatistic, strings.Trim(name, ".:-* ")) {
		return name
	}
	for phrase := range k.meaning[rowStatistic] {
		if strings.Contains(phrase, " ") && strings.Contains(name, phrase) {
			field = strings.ReplaceAll(name, phrase, wordMean)
		}
	}
	found := false
	for _, w := range wordsOf(field) {
		switch w = strings.Trim(w, ".-/"); {
		case w == "" || besideStatistic.MatchString(w):
		case statisticWord(w):
			found = true
		default:
			return ""
		}
	}
	if !found {
		return ""
	}
	return name
}

// statisticWord reports whether a word is a statistic, or consists of such words and numbers as 平均值3次 does.
func statisticWord(w string) bool {
	if known().is(rowStatistic, w) {
		return true
	}
	rest, found := w, false
	for name := range known().meaning[rowStatistic] {
		if r := []rune(name); unicode.Is(unicode.Han, r[0]) && strings.Contains(w, name) {
			rest, found = strings.ReplaceAll(rest, name, ""), true
		}
	}
	return found && strings.Trim(rest, "0123456789次轮值的") == ""
}

// statisticWithin returns the statistic among the words of a name, such as "host average", unless all rows have it.
func statisticWithin(words, constant []string) string {
	for i, w := range words {
		w = strings.Trim(w, ".-/")
		long := len(w) > 2
		if !long || slices.Contains(constant, words[i]) || w == "min" && i > 0 && format.Whole([]byte(words[i-1])).Known() {
			continue
		}
		if statisticWord(w) {
			return w
		}
		for name := range known().meaning[rowStatistic] {
			if r := []rune(name); unicode.Is(unicode.Han, r[0]) && (strings.HasPrefix(w, name) || strings.HasSuffix(w, name)) {
				return name
			}
		}
	}
	return ""
}
