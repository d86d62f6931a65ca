// Package messages is the catalogue of what reports and commands say. Text with values has a key, and stands in
// english.txt and chinese.txt (reports) or english-commands.txt and chinese-commands.txt. Text without values, such as
// help, is its own key: chinese-help.txt has its translation. The caller formats the values of a message, such as numbers.
//
// A message is text with
//
//	{name}            the value of this name
//	{name:one|many}   the first word where the value is the number 1, else the second
//	{name:a=x|b=y}    the word behind the value
//	<tone|text>       text in a tone; placeholders may be within it
//
// The sentences of codes (record.Said) have files of their own, without tones. There {name:format} is a value in a
// format of package said.
package messages

import (
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
)

//go:embed english.txt
var englishText string

//go:embed english-commands.txt
var englishCommands string

//go:embed chinese.txt
var chineseText string

//go:embed chinese-commands.txt
var chineseCommands string

//go:embed said-english.txt
var englishSaid string

//go:embed said-chinese.txt
var chineseSaid string

// Key names a message. In the code every key is a whole literal and is never put together from parts,
// so that a search finds it. TestKeys tests that.
type Key string

// Catalog is the messages of one language. The zero Catalog is English.
type Catalog struct {
	language Language
	texts    map[Key]string
	said     map[Key]string    // by code
	static   map[string]string // translations of texts without values, by the English text
}

// In returns the catalogue of a language; that of an unknown one is English.
func In(l Language) Catalog {
	if l == Chinese {
		return chinese()
	}
	return english()
}

// Language is the language of the catalogue.
func (c Catalog) Language() Language { return cmp.Or(c.language, English) }

var english = sync.OnceValue(func() Catalog {
	return Catalog{language: English, texts: mustParse(englishText + "\n" + englishCommands), said: mustParse(englishSaid)}
})

var chinese = sync.OnceValue(func() Catalog {
	static, err := parseStatic(chineseHelp)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return Catalog{Chinese, mustParse(chineseText + "\n" + chineseCommands), mustParse(chineseSaid), static}
})

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
	Text   string
	Name   string
	Format string // of the value; empty: none
	Tone   string // empty: none
}

// Of splits a message into pieces. pairs are alternately names and values; they are needed for the
// choices {name:one|many}. It panics on a key that the catalogue does not have.
func (c Catalog) Of(key Key, pairs ...any) []Piece {
	if c.texts == nil {
		c = english()
	}
	text, ok := c.texts[key]
	if !ok {
		panic("no message " + string(key))
	}
	return split(text, "{<>", pairs)
}

// OfCode splits the sentence of a code into pieces; nil if this catalogue does not have the code.
func (c Catalog) OfCode(code string, pairs ...any) []Piece {
	if c.said == nil {
		c = english()
	}
	return split(c.said[Key(code)], "{", pairs)
}

// Codes yields the codes that have a sentence, with the sentence.
func (c Catalog) Codes() iter.Seq2[Key, string] { return maps.All(c.said) }

// split splits the text of a message into pieces at marks.
func split(text, marks string, pairs []any) (out []Piece) {
	tone := ""
	for text != "" {
		i := strings.IndexAny(text, marks)
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

// placeholder returns the piece of a placeholder; inner is the text between the braces.
func placeholder(inner, tone string, pairs []any) Piece {
	name, format, _ := strings.Cut(inner, ":")
	if !strings.Contains(format, "|") {
		return Piece{Name: name, Format: format, Tone: tone}
	}
	value, words := fmt.Sprint(Value(name, pairs)), strings.Split(format, "|")
	for _, w := range words {
		if of, word, ok := strings.Cut(w, "="); ok && of == value {
			return Piece{Text: word, Tone: tone}
		}
	}
	if value == "1" {
		return Piece{Text: words[0], Tone: tone}
	}
	return Piece{Text: words[1], Tone: tone}
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
		parts = append(parts, c.textOf(p, pairs))
	}
	return c.Join(parts...)
}

// textOf is the text of a piece, or the value for it.
func (c Catalog) textOf(p Piece, pairs []any) string {
	if p.Name == "" {
		return p.Text
	}
	switch v := Value(p.Name, pairs).(type) {
	case Message:
		return c.Say(v)
	case []string:
		return c.JoinAll("join.names", v...)
	default:
		return fmt.Sprint(v)
	}
}

// Toned is a message in pieces with the values in their place, each with its tone.
func (c Catalog) Toned(key Key, pairs ...any) (out []Piece) {
	for _, p := range c.Of(key, pairs...) {
		p.Text, p.Name = c.textOf(p, pairs), ""
		if last := len(out) - 1; last >= 0 && out[last].Tone == p.Tone {
			out[last].Text = c.Join(out[last].Text, p.Text)
		} else if last >= 0 {
			out[last].Text, p.Text = c.Meet(out[last].Text, p.Text)
			out = append(out, p)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// Message is a message with its values that is not yet in a language. A value may be a Message, or a list of names.
type Message struct {
	Key    Key
	Values []any
}

// Say returns a message; pairs are alternately names and values.
func Say(key Key, pairs ...any) Message { return Message{key, pairs} }

// Say is a message as plain text.
func (c Catalog) Say(m Message) string { return c.Text(m.Key, m.Values...) }

// JoinAll joins texts in pairs by a message of {before} and {after}; empty ones are left out.
func (c Catalog) JoinAll(key Key, parts ...string) (out string) {
	for _, p := range parts {
		switch {
		case out == "":
			out = p
		case p != "":
			out = c.Text(key, "before", out, "after", p)
		}
	}
	return out
}
