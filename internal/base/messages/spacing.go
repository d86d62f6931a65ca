package messages

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Join puts the parts of a sentence together. In Chinese one space stands between a Han character and a Latin
// letter or a number, and none between two Han characters or beside a full-width sign. Only the ends of
// the parts change, for a part may be a name.
func (c Catalog) Join(parts ...string) string {
	out := ""
	for _, p := range parts {
		before, after := c.Meet(out, p)
		out = before + after
	}
	return out
}

// Meet returns two neighbouring parts of a sentence with the space between them that their language wants.
func (c Catalog) Meet(before, after string) (string, string) {
	left, right := strings.TrimRight(before, " "), strings.TrimLeft(after, " ")
	if c.language != Chinese || left == "" || right == "" {
		return before, after
	}
	a, _ := utf8.DecodeLastRuneInString(left)
	b, _ := utf8.DecodeRuneInString(right)
	switch spaces := len(before) - len(left) + len(after) - len(right); {
	case spaces == 0 && (han(a) && narrow(b) || narrow(a) && han(b)):
		return before, " " + after
	case spaces == 1 && (han(a) && han(b) || sign(a) || sign(b)):
		return left, right
	}
	return before, after
}

func han(r rune) bool { return unicode.Is(unicode.Han, r) }

// narrow reports whether a character is a letter or a digit of another script, or a sign beside a number.
func narrow(r rune) bool {
	return r < 0x2e80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("%±+-–≠*~", r))
}

// sign reports whether a character is a full-width punctuation mark.
func sign(r rune) bool { return strings.ContainsRune("，。；：、（）！？《》", r) }
