// Package messages is the catalogue of the sentences and words of a report. It has one file for each
// language, by key, and for sentences that are made elsewhere in English, such as those of a record, a file
// of patterns with their translation. The caller formats the values of a message, such as numbers.
//
// A message is text with
//
//	{name}            the value of this name
//	{name:one|many}   the first word where the value is the number 1, else the second
//	<tone|text>       text in a tone; placeholders may be within it
package messages

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed english.txt
var englishText string

//go:embed chinese.txt
var chineseText string

// Key names a message. In the code every key is a whole literal and is never put together from parts,
// so that a search finds it. TestKeys tests that.
type Key string

// Catalog is the messages of one language.
type Catalog struct {
	language Language
	texts    map[Key]string
	known    *patterns // of English sentences; nil: they stay as they are
}

// In returns the catalogue of a language; that of an unknown one is English.
func In(l Language) Catalog {
	if l == Chinese {
		return chinese()
	}
	return english()
}

// Language is the language of the catalogue.
func (c Catalog) Language() Language { return c.language }

var english = sync.OnceValue(func() Catalog { return Catalog{English, mustParse(englishText), nil} })

var chinese = sync.OnceValue(func() Catalog { return Catalog{Chinese, mustParse(chineseText), chinesePatterns()} })

// mustParse reads a file that is part of the program, and that a test reads.
func mustParse(file string) map[Key]string {
	all, err := parse(file)
	if err != nil {
		panic(err)
	}
	return all
}

// parse reads lines "key = text". It skips empty lines and lines that begin with #.
func parse(file string) (map[Key]string, error) {
	all := map[Key]string{}
	for i, line := range strings.Split(file, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if _, twice := all[Key(key)]; !ok || twice {
			return nil, fmt.Errorf("line %d: want a new key = text, got %q", i+1, line)
		}
		all[Key(key)] = text
	}
	return all, nil
}

// Piece is a part of a message in one tone: a text, or the name of the value to put there.
type Piece struct {
	Text string
	Name string
	Tone string // empty: none
}

// Of splits a message into pieces. pairs are alternately names and values; they are needed for the
// choices {name:one|many}. It panics on a key that the catalogue does not have.
func (c Catalog) Of(key Key, pairs ...any) []Piece {
	text, ok := c.texts[key]
	if !ok {
		panic("no message " + string(key))
	}
	return split(text, pairs)
}

// split splits the text of a message into pieces.
func split(text string, pairs []any) (out []Piece) {
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
			var inner string
			inner, text, _ = strings.Cut(text, "}")
			out = append(out, placeholder(inner, tone, pairs))
		}
	}
	return out
}

// placeholder returns the piece of a placeholder, {name} or {name:one|many}; inner is the text between
// the braces.
func placeholder(inner, tone string, pairs []any) Piece {
	name, words, choice := strings.Cut(inner, ":")
	if !choice {
		return Piece{Name: name, Tone: tone}
	}
	one, many, _ := strings.Cut(words, "|")
	if Value(name, pairs) == 1 {
		return Piece{Text: one, Tone: tone}
	}
	return Piece{Text: many, Tone: tone}
}

// Value returns the value of a name in pairs; nil if pairs does not have the name.
func Value(name string, pairs []any) any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return nil
}

// Text is a message as plain text, without its tones.
func (c Catalog) Text(key Key, pairs ...any) string {
	var parts []string
	for _, p := range c.Of(key, pairs...) {
		if p.Name == "" {
			parts = append(parts, p.Text)
		} else {
			parts = append(parts, fmt.Sprint(Value(p.Name, pairs)))
		}
	}
	return c.Join(parts...)
}
