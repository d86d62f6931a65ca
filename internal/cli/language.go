package cli

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/report"
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

// speak chooses the language of everything that the command prints for people.
func (c *console) speak(l messages.Language) { c.language, c.translate = l, sentences(l) }

// reports are the reports in the language of the console.
func (c *console) reports() report.Language { return report.In(messages.In(c.language)) }

// sentences is the translation of what commands say; nil: English, in which it is said.
func sentences(l messages.Language) translation {
	if l == messages.English {
		return nil
	}
	return messages.In(l).Sentence
}
