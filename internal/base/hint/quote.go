package hint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote quotes a word for a POSIX shell if needed. Bytes that a terminal could interpret or hide become
// "$(printf ...)"; a shell gives back the same word.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,%+@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	var out, hidden strings.Builder
	plain := false // out is inside of single quotes
	show := func(open bool) {
		if hidden.Len() > 0 {
			fmt.Fprintf(&out, `"$(printf '%s')"`, hidden.String())
			hidden.Reset()
		}
		if open != plain {
			out.WriteByte('\'')
			plain = open
		}
	}
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		if r, n = utf8.DecodeRuneInString(s[i:]); visible(r, n) {
			show(true)
			out.WriteString(strings.ReplaceAll(s[i:i+n], "'", `'\''`))
			continue
		}
		if plain {
			show(false)
		}
		for _, b := range []byte(s[i : i+n]) {
			fmt.Fprintf(&hidden, `\%03o`, b)
		}
	}
	if show(false); s == "" {
		return "''"
	}
	return out.String()
}

// visible says whether a rune of n bytes is printed as it is. A line end is too: a shell drops it from "$(...)".
func visible(r rune, n int) bool {
	return r == '\n' || unicode.IsPrint(r) && (r != utf8.RuneError || n > 1)
}

// Command joins words to a command that can be pasted into a shell. Of --flag=VALUE only the value is quoted.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		flag, value, ok := strings.Cut(w, "=")
		if ok && strings.HasPrefix(flag, "--") && Quote(flag) == flag {
			quoted[i] = flag + "=" + Quote(value)
		} else {
			quoted[i] = Quote(w)
		}
	}
	return strings.Join(quoted, " ")
}
