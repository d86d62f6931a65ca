package hint

import (
	"fmt"
	"strings"
)

// Nearest returns the word that was most likely meant, or "" if none is near. Short words may differ
// by one edit, longer ones by one edit for every three letters. A prefix of exactly one word also
// means that word.
func Nearest(word string, words []string) string {
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, distance := "", 1+max(1, len(word)/3)
	for _, w := range words {
		if max(len(w)-len(word), len(word)-len(w)) >= distance {
			continue // at least one edit for each letter too few or too many
		}
		if d := edits(word, strings.ToLower(w)); d < distance {
			best, distance = w, d
		}
	}
	if best == "" && len(word) > 1 {
		return completion(word, words)
	}
	return best
}

// longest is the length of the longest word that is compared, in bytes: the time grows with its square.
const longest = 64

// completion returns the only word with this prefix; "" if no word or several words have it.
func completion(prefix string, words []string) string {
	found := ""
	for _, w := range words {
		if !strings.HasPrefix(strings.ToLower(w), prefix) {
			continue
		}
		if found != "" {
			return ""
		}
		found = w
	}
	return found
}

// DidYouMean returns the end of a sentence about an unknown word: the nearest of words, else all of
// them; empty without words.
func DidYouMean(word string, words []string) string {
	if near := Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(words) == 0 {
		return ""
	}
	return "; valid: " + strings.Join(words, ", ")
}

// edits is the distance between two words: insertions, deletions, substitutions and swaps of adjacent
// letters (optimal string alignment: Damerau 1964, Comm. ACM 7(3), p. 171).
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
