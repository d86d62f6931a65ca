package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

const source = `package p

import "a/path of words"

type t struct {
	field int "a tag of words"
}

const name = "two words"

const path = "proc/sys/kernel/a.b.c"

const yaml = "{environment: host, set: {work: 1.0}}"

const text = "the whole interval"

func f(x string) error {
	g("%.1f %% of %s", "%d of %d blocks are lost")
	h := "joined to " + x + " again"
	panic("a text for engineers")
	_ = hint.New(errors.New("this is an error"), "try it once more")
	return fmt.Errorf("read the file: %w", nil)
}
`

func TestSentences(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := texts(file)
	want := []string{"the whole interval", "%d of %d blocks are lost", "joined to    again"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func texts(file *ast.File) (got []string) {
	for _, s := range sentences(file, patternsIn([]parsed{{"p", file}})) {
		got = append(got, s.text)
	}
	return got
}

// compared has texts with which input is compared, and four sentences.
const compared = `package p

const label = "number of clients here: "

var ends = []string{"this was the end", "connection is closed now"}

var table = []struct{ text, title string }{
	{"block size in bytes: ", "the size of blocks"},
	{"begins with: " + "these words", "x"},
}

type row struct{ title, text string }

var rows = []row{{"the title of rows", "the text of rows: "}}

var tool = Tool{Begins: []string{"the report begins here"}, IsLine: matches("^the last line is"), Title: "one tool and another"}

var units = map[string]string{"the key of maps": "a value of maps"}

func matches(lines string) any { return regexp.MustCompile(lines) }

func (c *cursor) Try(s string) bool { return string(c.b[:len(s)]) == s }

func begins(b []byte, s string) bool { return bytes.HasPrefix(b, []byte(s)) }

func f(s string, c *cursor, t *Tool) string {
	switch s {
	case "this is a case":
		return s[len("the length of this"):]
	}
	for _, end := range ends {
		_ = strings.HasSuffix(s, end)
	}
	for _, row := range table {
		_, _, _ = bytes.Cut(b, []byte(row.text))
	}
	for _, x := range t.Begins {
		_ = strings.Index(s, x)
	}
	if c.Try("as a method does") || s == "this is an operand" || begins(b, "by a function too") || units["one more key here"] != "" {
		_ = strings.Contains(s, label) && slices.Contains(strings.Fields("a list of words"), s)
	}
	return strings.TrimPrefix(s, rows[0].text)
}
`

func TestPatterns(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", compared, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the size of blocks", "the title of rows", "one tool and another", "a value of maps"}
	if got := texts(file); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoFiles(t *testing.T) {
	if _, err := below(t.TempDir()); err == nil {
		t.Error("a directory without Go files is no error")
	}
}
