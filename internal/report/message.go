package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/messages"
)

var toneNames = map[string]tone{
	"": plain, "strong": strong, "faint": faint, "bad": bad, "good": good, "unsure": unsure, "calm": calm, "broken": broken, "code": code,
}

// msg is a message of the catalogue; pairs are names and values. A value of type
// sentence keeps its tones.
func (in Language) msg(key messages.Key, pairs ...any) sentence {
	var s sentence
	add := func(text string, t tone) {
		if n := len(s); n > 0 && s[n-1].tone == t {
			s[n-1].text = in.catalog.Join(s[n-1].text, text) // one piece
		} else if text != "" {
			s = append(s, cell{text, t})
		}
	}
	for _, p := range in.catalog.Of(key, pairs...) {
		t := toneNames[p.Tone]
		if p.Name == "" {
			add(p.Text, t)
			continue
		}
		switch v := messages.Value(p.Name, pairs).(type) {
		case sentence:
			s = append(s, v...)
		case cell:
			s = append(s, v)
		default:
			add(fmt.Sprint(v), t)
		}
	}
	return in.spaced(s)
}

// spaced is a sentence with the spaces between its pieces that the language wants.
func (in Language) spaced(s sentence) sentence {
	for i := 1; i < len(s); i++ {
		if s[i-1] != lineBreak && s[i] != lineBreak && s[i-1].tone != code && s[i].tone != code {
			s[i-1].text, s[i].text = in.catalog.Meet(s[i-1].text, s[i].text)
		}
	}
	return s
}

// text is a message as plain text.
func (in Language) text(key messages.Key, pairs ...any) string {
	for i := 1; i < len(pairs); i += 2 {
		if s, ok := pairs[i].(sentence); ok {
			pairs[i] = s.String()
		}
	}
	return in.catalog.Text(key, pairs...)
}

func (s sentence) String() string {
	var out string
	for _, c := range s {
		out += c.text
	}
	return out
}

// joined joins sentences in pairs by a message of two, and leaves empty ones out.
func (in Language) joined(key messages.Key, all ...sentence) (out sentence) {
	for _, s := range all {
		switch {
		case len(out) == 0:
			out = s
		case len(s) > 0:
			out = in.msg(key, "before", out, "after", s)
		}
	}
	return out
}

// capital begins a sentence with a capital letter, unless it begins with a name.
func (in Language) capital(s sentence, name string) sentence {
	if len(s) > 0 && (name == "" || !strings.HasPrefix(s[0].text, name)) {
		s = append(sentence{}, s...)
		s[0].text = in.heading(s[0].text)
	}
	return s
}

// heading begins a title with a capital letter. A Chinese one may begin with a name.
func (in Language) heading(s string) string {
	if in.catalog.Language() != messages.English {
		return s
	}
	return upper(s)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
