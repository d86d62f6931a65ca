package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/term"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// console is a command's output, arguments and environment.
type console struct {
	name           string // of the program; empty: tare
	renamed        renamed
	stdout, stderr *os.File
	in             messages.Catalog // of what is printed for people
	args           []string
	getenv         func(string) string
	color          colorMode
	given          *given // the values of flags that the command line does not have
	events         bool   // lines on standard error are objects (--progress json)
}

// colorMode is the value of --color.
type colorMode string

func (m *colorMode) UnmarshalText(b []byte) error {
	return oneOf((*string)(m), string(b), m.words()...)
}

func (colorMode) words() []string { return []string{"auto", "always", "never"} }

// oneOf stores word if it is one of words.
func oneOf(to *string, word string, words ...string) error {
	if formal := formAliases[word]; slices.Contains(words, formal) {
		word = formal
	}
	for _, w := range words {
		if w == word {
			*to = w
			return nil
		}
	}
	if other := otherForms[word]; slices.Contains(words, other) {
		return fmt.Errorf("unknown word %q; did you mean %q?", word, other)
	}
	return fmt.Errorf("unknown word %q%s", word, hint.DidYouMean(word, words))
}

// ANSI attributes.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
)

// colored says whether output to f has colours; objects have none. --color comes before the environment
// (https://no-color.org).
func (c *console) colored(f *os.File) bool {
	if c.events && f == c.stderr {
		return false
	}
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	return c.getenv("NO_COLOR") == "" && c.terminal(f)
}

// terminal says whether f is a terminal that understands escape sequences.
func (c *console) terminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && c.getenv("TERM") != "dumb"
}

// size is the size of a terminal in characters; 0, 0: f is none.
func (c *console) size(f *os.File) (width, height int) {
	if !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// painted is text without foreign escape sequences; it may have tare's own colours.
type painted string

// paint removes escape sequences from a text and colours it.
func (c *console) paint(f *os.File, attribute, text string) painted {
	return c.tint(f, attribute, export.Clean(text))
}

// tint colours a text, which has no escape sequences.
func (c *console) tint(f *os.File, attribute, text string) painted {
	if c.colored(f) {
		text = "\x1b[" + attribute + "m" + text + "\x1b[0m"
	}
	return painted(text)
}

// formatted is Sprintf without the escape sequences and line ends of the arguments: names come
// from others.
func formatted(format string, args ...any) string {
	args = slices.Clone(args)
	for i, a := range args {
		switch x := a.(type) {
		case painted:
		case int, uint, int64, uint64, float64, bool:
		default:
			args[i] = export.Clean(fmt.Sprint(x))
		}
	}
	return fmt.Sprintf(format, args...)
}

// text is a message in the language of the console, without the escape sequences and line ends of its values: names come
// from others.
func (c *console) text(key messages.Key, pairs ...any) string {
	return c.in.Text(key, cleanValues(pairs)...)
}

// cleanValues are pairs of names and values without escape sequences and line ends.
func cleanValues(pairs []any) []any {
	pairs = slices.Clone(pairs)
	for i := 1; i < len(pairs); i += 2 {
		switch v := pairs[i].(type) {
		case int, uint, int64, uint64, float64, messages.Message:
		case []string:
			pairs[i] = each(v, export.Clean)
		default:
			pairs[i] = export.Clean(fmt.Sprint(v))
		}
	}
	return pairs
}

// each has a function of each.
func each[T any](all []T, f func(T) string) (out []string) {
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

// eachSaid are the sentences of several codes.
func eachSaid(all []record.Said, in messages.Catalog) (out []string) {
	for _, s := range all {
		out = append(out, said.Text(in, s))
	}
	return out
}

// attributeOf has the ANSI attribute of each tone of a message.
var attributeOf = map[string]string{"faint": dim, "strong": bold}

// toned is a message with colours, for standard output or standard error.
func (c *console) toned(f *os.File, key messages.Key, pairs []any) (out string) {
	for _, p := range c.in.Toned(key, cleanValues(pairs)...) {
		if attribute := attributeOf[p.Tone]; attribute != "" {
			out += string(c.tint(f, attribute, p.Text))
		} else {
			out += p.Text
		}
	}
	return out
}

// noteResults prints the result directory, and the path of the page if there is one.
func (c *console) noteResults(dir string, page bool) {
	if page {
		c.note("result.charts", "dir", dir, "page", filepath.Join(dir, record.PageFile))
		return
	}
	c.note("result.in", "dir", dir)
}

// note prints a message to standard error.
func (c *console) note(key messages.Key, pairs ...any) {
	if c.events {
		writeEvent(c.stderr, noteEvent{"note", c.text(key, pairs...)})
		return
	}
	fmt.Fprintln(c.stderr, c.toned(c.stderr, key, pairs))
}

// say prints a message to standard output.
func (c *console) say(key messages.Key, pairs ...any) {
	fmt.Fprintln(c.stdout, c.toned(c.stdout, key, pairs))
}
