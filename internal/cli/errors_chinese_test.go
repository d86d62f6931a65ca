package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Errors and their remedies are in English in every language.
func TestErrorsAreInEnglish(t *testing.T) {
	for _, args := range [][]string{
		{"run", "quik"}, {"run", "--bugdet", "3m"}, {"check"}, {"report", "/nonexistent/r"}, {"run", "--set", "rpc.concurency=8"}, {"run", "--budget", "2"},
		{"run", "--volume", "nfs:x"}, {"run", "--max-cost", "foo=5%"}, {"run", "--verbose", "--format", "json"},
	} {
		said := map[string]string{}
		for _, lang := range []string{"en", "zh"} {
			out, err := os.Create(filepath.Join(t.TempDir(), lang))
			if err != nil {
				t.Fatal(err)
			}
			if code := Main(append([]string{"--lang=" + lang}, args...), out, out); code != exitUsage {
				t.Errorf("tare %q ends with %d", args, code)
			}
			out.Close()
			b, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			said[lang] = string(b)
		}
		if said["zh"] != said["en"] || !strings.HasPrefix(said["zh"], "tare: ") {
			t.Errorf("tare %q says\n%sand in English\n%s", args, said["zh"], said["en"])
		}
	}
}

// --lang stands anywhere beside help.
func TestHelpTakesLang(t *testing.T) {
	for _, args := range []string{"--lang zh help", "help --lang=zh", "--lang=zh help run", "help kubernetes --lang zh"} {
		want := strings.Fields(args)
		want = slices.DeleteFunc(want, func(w string) bool { return strings.HasPrefix(w, "--lang") || w == "zh" })
		if got := asCommand(strings.Fields(args)); !slices.Equal(got, append(want[1:], "--help")) {
			t.Errorf("tare %s is %q", args, got)
		}
	}
	if got := asCommand([]string{"help", "--lang", "xx"}); len(got) != 3 {
		t.Errorf("a wrong --lang is left out: %q", got)
	}
}
