package export

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names, reasons and errors come from files, tools, kernels and other users. Each way out of
// tare has one function here that makes a text harmless there: Clean for a name in a report or
// a page, Terminal for a text of several lines on the console, Cell for a field of CSV, Markdown
// for a text in Markdown, HTML for one in the HTML within that; JSON is escaped by Object.

// unseen are the characters that move the cursor, turn the direction of writing or cannot be
// seen: controls of both ranges, format characters, surrogates, private ones, and those that
// Unicode tells a font to leave out (fillers, variation selectors).
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == unicode.ReplacementChar ||
		unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Terminal makes a text that may have line ends harmless on a terminal: escape sequences,
// colours too, lose what makes them one. tare colours a text after this.
func Terminal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unseen(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// formula are the characters with which a formula begins in a spreadsheet; some take the wide
// forms of East Asian fonts for them.
const formula = "=+-@＝＋－＠"

// cell makes a text harmless in a spreadsheet, which takes one that begins like a formula for
// one, and may leave out spaces before it.
func cell(s string) string {
	s = Clean(s)
	if first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, unicode.IsSpace)); strings.ContainsRune(formula, first) {
		return "'" + s
	}
	return s
}

// marks are the characters of Markdown and HTML.
var marks = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "](", "]\\(",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "~", "\\~", "$", "\\$",
)

// Places that GitHub and others turn into a mention or a link: they are broken by a space of no
// width.
var (
	mentions  = regexp.MustCompile(`(?i)[@#][a-z0-9]|GH-[0-9]`)
	addresses = regexp.MustCompile(`(?i)://|www\.|mailto:|xmpp:`)
)

// heads are what makes a heading, a list or a rule of a line that begins with it.
var heads = regexp.MustCompile(`^([0-9]*)([#+=.)-]+)(\s|$)`)

// Markdown makes a text harmless in Markdown that others see: a comment on a change.
func Markdown(s string) string {
	return marks.Replace(alone(s))
}

// MarkdownLine keeps Markdown that begins a line, or follows the mark of a list or a heading,
// from being another such mark itself.
func MarkdownLine(s string) string { return heads.ReplaceAllString(s, "$1\\$2$3") }

// HTML makes a text harmless in the HTML of such Markdown.
func HTML(s string) string {
	return html.EscapeString(alone(s))
}

// alone is a clean text of which nobody makes a mention or a link.
func alone(s string) string {
	last := func(m string) string { return m[:len(m)-1] + "\u200b" + m[len(m)-1:] }
	return addresses.ReplaceAllStringFunc(mentions.ReplaceAllStringFunc(Clean(s), last), last)
}

// escaped writes the characters of JSON's texts that are unseen as \uXXXX: encoding/json does
// that for controls below U+0020 alone.
func escaped(b []byte) []byte {
	if bytes.IndexFunc(b, odd) < 0 {
		return b
	}
	var out bytes.Buffer
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if odd(r) {
			out.WriteString(unicodeEscape(r))
		} else {
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.Bytes()
}

// odd is unseen and not one of the characters that JSON is laid out with.
func odd(r rune) bool { return r >= 0x7f && unseen(r) && r != utf8.RuneError }

func unicodeEscape(r rune) string {
	const width = 4
	hex := func(x rune) string {
		s := strconv.FormatInt(int64(x), 16)
		return `\u` + strings.Repeat("0", width-len(s)) + s
	}
	if r < 0x10000 {
		return hex(r)
	}
	r -= 0x10000
	return hex(0xd800+r>>10) + hex(0xdc00+r&0x3ff)
}

// encode is v as indented JSON with a line end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escaped(b.Bytes()), nil
}
