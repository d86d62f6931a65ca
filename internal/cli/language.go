package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// languageChoice is the value of --lang.
type languageChoice string

func (l *languageChoice) UnmarshalText(b []byte) error {
	return oneOf((*string)(l), string(b), messages.Choices()...)
}

// languageOf is the language of help and of errors about the command line: --lang, else what is set for all
// commands outside of it, else the locale.
func languageOf(args []string, set []settings.Value, getenv func(string) string) messages.Language {
	choice := ""
	if v, ok := settings.Find(set, "", "lang"); ok {
		choice = v.Texts[0]
	}
	return messages.Choose(cmp.Or(valueIn(args, "--lang"), choice), getenv)
}

// valueIn is the value of a flag in a command line that may be wrong; "": it has none.
func valueIn(args []string, flag string) (value string) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if text, ok := strings.CutPrefix(a, flag+"="); ok {
			value = text
		} else if a == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// speak chooses the language of everything that the command prints for people.
func (c *console) speak(l messages.Language) { c.in = messages.In(l) }

// withoutLang leaves out --lang with its value. A wrong value stays.
func withoutLang(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		value, joined := strings.CutPrefix(args[i], "--lang=")
		switch {
		case joined && slices.Contains(messages.Choices(), value):
		case args[i] == "--lang" && i+1 < len(args) && slices.Contains(messages.Choices(), args[i+1]):
			i++
		default:
			rest = append(rest, args[i])
		}
	}
	return rest
}

// reports are the reports in the language of the console.
func (c *console) reports() report.Language { return report.In(c.in) }

// said is the sentence of a code.
func (c *console) said(s record.Said) string { return said.Text(c.in, s) }
