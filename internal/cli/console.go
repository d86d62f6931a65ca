package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/term"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// console is a command's output, arguments and environment.
type console struct {
	name           string // of the program; empty: tare
	renamed        renamed
	stdout, stderr *os.File
	translate      translation // of what is printed for people, except reports
	args           []string
	getenv         func(string) string
	color          colorMode
	given          *given // the values of flags that the command line does not have
	events         bool   // lines on standard error are objects (--progress json)
	language       messages.Language
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
	if instead := replacements[word]; instead != "" {
		return hint.New(fmt.Errorf("unknown word %q", word), instead)
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

// paint translates a text, removes escape sequences from it and colours it.
func (c *console) paint(f *os.File, attribute, text string) painted {
	return c.tint(f, attribute, c.plainly(text))
}

// plainly translates a text and removes escape sequences from it.
func (c *console) plainly(text string) string { return export.Clean(c.translate.within(text)) }

// tint colours a text, which has no escape sequences.
func (c *console) tint(f *os.File, attribute, text string) painted {
	if c.colored(f) {
		text = "\x1b[" + attribute + "m" + text + "\x1b[0m"
	}
	return painted(text)
}

// lines is a text of tare's own with several lines.
type lines string

// formatted is Sprintf without the escape sequences and line ends of the arguments: names come
// from others.
func formatted(format string, args ...any) string {
	args = slices.Clone(args)
	for i, a := range args {
		switch x := a.(type) {
		case painted:
		case lines:
			args[i] = export.Terminal(string(x))
		case int, uint, int64, uint64, float64, bool:
		default:
			args[i] = export.Clean(fmt.Sprint(x))
		}
	}
	return fmt.Sprintf(format, args...)
}

// noteResults prints the result directory, and the path of the page if there is one.
func (c *console) noteResults(dir string, page bool) {
	var charts painted
	if page {
		charts = c.paint(c.stderr, dim, ", with charts in ") + painted(export.Clean(filepath.Join(dir, record.PageFile)))
	}
	c.note("%s %s%s", c.paint(c.stderr, dim, "results in"), dir, charts)
}

// inLanguage is formatted, translated. With painted arguments it is not a sentence: paint translates those.
func (c *console) inLanguage(format string, args []any) string {
	text := formatted(format, args...)
	for _, a := range args {
		if _, ok := a.(painted); ok {
			return text
		}
	}
	return c.translate.lines(text)
}

// note prints a line to standard error.
func (c *console) note(format string, args ...any) {
	if c.events {
		writeEvent(c.stderr, noteEvent{"note", formatted(format, args...)})
		return
	}
	fmt.Fprintln(c.stderr, c.inLanguage(format, args))
}

// say prints a line to standard output.
func (c *console) say(format string, args ...any) {
	fmt.Fprintln(c.stdout, c.inLanguage(format, args))
}
