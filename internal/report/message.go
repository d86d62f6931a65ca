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
func msg(key messages.Key, pairs ...any) sentence {
	var s sentence
	add := func(text string, t tone) {
		if n := len(s); n > 0 && s[n-1].tone == t {
			s[n-1].text += text // one piece
		} else if text != "" {
			s = append(s, cell{text, t})
		}
	}
	for _, p := range messages.Of(key, pairs...) {
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
	return s
}

// text is a message as plain text.
func text(key messages.Key, pairs ...any) string {
	for i := 1; i < len(pairs); i += 2 {
		if s, ok := pairs[i].(sentence); ok {
			pairs[i] = s.String()
		}
	}
	return messages.Text(key, pairs...)
}

func (s sentence) String() string {
	var out string
	for _, c := range s {
		out += c.text
	}
	return out
}

// joined puts a separator between sentences, and leaves empty ones out.
func joined(sep string, all ...sentence) (out sentence) {
	for _, s := range all {
		if len(s) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, cell{sep, plain})
		}
		out = append(out, s...)
	}
	return out
}

// capital begins a sentence with a capital letter, unless it begins with a name.
func capital(s sentence, name string) sentence {
	if len(s) > 0 && (name == "" || !strings.HasPrefix(s[0].text, name)) {
		s = append(sentence{}, s...)
		s[0].text = upper(s[0].text)
	}
	return s
}

func upper(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
