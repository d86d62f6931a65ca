package export

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names, reasons and errors come from files, tools, kernels and other users. Each way out of
// tare has one function here that makes a text harmless there: Clean for a name in a report or
// a page, Terminal for a line of the console, Cell for a field of CSV, Markdown for a text in
// Markdown; JSON is escaped by Object.

// unseen are the characters that move the cursor, turn the direction of writing or cannot be
// seen: controls of both ranges, format characters, surrogates and private ones.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}

// colours are the sequences that tare itself writes to a terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Terminal makes a text that may have line ends harmless on a terminal. Colours stay, all other
// escape sequences lose what makes them one.
func Terminal(s string) string {
	var out strings.Builder
	for {
		at := colours.FindStringIndex(s)
		if at == nil {
			out.WriteString(line(s))
			return out.String()
		}
		out.WriteString(line(s[:at[0]]))
		out.WriteString(s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

func line(s string) string {
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

// Cell makes a text harmless in a spreadsheet, which takes one that begins with = + - or @ for
// a formula.
func Cell(s string) string {
	s = Clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// marks are the characters of Markdown and HTML.
var marks = strings.NewReplacer(
	"\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "](", "]\\(",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "~", "\\~",
)

// Places that GitHub and others turn into a mention or a link: they are broken by a space of no
// width.
var (
	mentions  = regexp.MustCompile(`[@#][A-Za-z0-9]`)
	addresses = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:`)
)

// Markdown makes a text harmless in Markdown that others see: a comment on a change.
func Markdown(s string) string {
	s = mentions.ReplaceAllStringFunc(Clean(s), func(m string) string { return m[:1] + "\u200b" + m[1:] })
	s = addresses.ReplaceAllStringFunc(s, func(m string) string { return m[:len(m)-1] + "\u200b" + m[len(m)-1:] })
	return marks.Replace(s)
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
