package main

import (
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
	var got []string
	for _, s := range sentences(file) {
		got = append(got, s.text)
	}
	want := []string{"the whole interval", "%d of %d blocks are lost", "joined to    again"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoFiles(t *testing.T) {
	if _, err := below(t.TempDir()); err == nil {
		t.Error("a directory without Go files is no error")
	}
}
