package cli

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report"
)

// languageChoice is the value of --lang.
type languageChoice string

func (l *languageChoice) UnmarshalText(b []byte) error {
	return oneOf((*string)(l), string(b), messages.Choices()...)
}

// languageOf is the language of everything that a command prints for people, also where its arguments are
// wrong: --lang, else TARE_LANG, else the locale.
func languageOf(args []string, getenv func(string) string) messages.Language {
	choice := getenv("TARE_LANG")
	for i, a := range args {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--lang="); ok {
			choice = value
		} else if a == "--lang" && i+1 < len(args) {
			choice = args[i+1]
		}
	}
	return messages.Choose(choice, getenv)
}

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
func (c *console) reports() report.Language { return report.In(messages.In(c.language)) }

// sentences is the translation of what commands say; nil: English, in which it is said.
func sentences(l messages.Language) translation {
	if l == messages.English {
		return nil
	}
	return messages.In(l).Sentence
}
