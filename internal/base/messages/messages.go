// Package messages is the catalogue of the sentences in reports, by key. Each language is one file. The
// package knows neither numbers nor effects: its caller formats the values.
//
// A message is text with
//
//	{name}            the value that the caller gives for this name
//	{name:one|many}   the first word if that value is 1, else the second
//	<tone|text>       text in a tone, which may have placeholders
package messages

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed english.txt
var englishText string

var english = sync.OnceValue(func() map[string]string {
	all, err := parse(englishText)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return all
})

// parse reads lines "key = text". It skips empty lines and those that begin with #.
func parse(file string) (map[string]string, error) {
	all := map[string]string{}
	for i, line := range strings.Split(file, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if _, twice := all[key]; !ok || twice {
			return nil, fmt.Errorf("line %d: want a new key = text, got %q", i+1, line)
		}
		all[key] = text
	}
	return all, nil
}

// Piece is a part of a message in one tone: a text, or the name of a placeholder.
type Piece struct {
	Text string
	Name string
	Tone string // empty: none
}

// Of splits a message into pieces and chooses the words that depend on a value. pairs has names and
// values in turn. An unknown key is its own text.
func Of(key string, pairs ...any) []Piece {
	text, ok := english()[key]
	if !ok {
		return []Piece{{Text: key}}
	}
	var out []Piece
	tone := ""
	for text != "" {
		i := strings.IndexAny(text, "{<>")
		if i < 0 {
			return append(out, Piece{Text: text, Tone: tone})
		}
		if i > 0 {
			out = append(out, Piece{Text: text[:i], Tone: tone})
		}
		mark := text[i]
		text = text[i+1:]
		switch mark {
		case '<':
			tone, text, _ = strings.Cut(text, "|")
		case '>':
			tone = ""
		case '{':
			var name string
			name, text, _ = strings.Cut(text, "}")
			out = append(out, placed(name, tone, pairs))
		}
	}
	return out
}

func placed(name, tone string, pairs []any) Piece {
	name, words, choice := strings.Cut(name, ":")
	if !choice {
		return Piece{Name: name, Tone: tone}
	}
	one, many, _ := strings.Cut(words, "|")
	if Value(name, pairs) == 1 {
		return Piece{Text: one, Tone: tone}
	}
	return Piece{Text: many, Tone: tone}
}

// Value finds the value of a name in pairs of names and values; nil if there is none.
func Value(name string, pairs []any) any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return nil
}

// Text returns a message as plain text, without tones.
func Text(key string, pairs ...any) string {
	var b strings.Builder
	for _, p := range Of(key, pairs...) {
		if p.Name == "" {
			b.WriteString(p.Text)
		} else {
			fmt.Fprint(&b, Value(p.Name, pairs))
		}
	}
	return b.String()
}

// Has reports whether the catalogue has a message.
func Has(key string) bool {
	_, ok := english()[key]
	return ok
}
