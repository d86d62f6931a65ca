package messages

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// called finds the literal key in a call or a conversion that takes one, in Go and in
// templates.
var called = regexp.MustCompile(`\b(?:msg|text|word|Word|number|labelled|axis|joined|mark|Key|Text|note|say|item|Say|JoinAll)(?:\(| )"([^"]+)"`)

// converted finds what else is made a key.
var converted = regexp.MustCompile(`messages\.Key\([^"]|Key\("[^"]*"\s*\+`)

func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root+"internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".tmpl"}, filepath.Ext(path)) {
			return err
		}
		if src := read(t, path); strings.Contains(src, `base/messages"`) || strings.Contains(path, "internal/report/") || strings.Contains(path, "internal/cli/") || strings.Contains(path, "internal/measure/advise/") {
			all[path] = src
		}
		return nil
	})
	if err != nil || len(all) < 100 {
		t.Fatal(len(all), err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestKeys: every message of the catalogue stands in the code as a whole literal, every
// literal key is in the catalogue, and no key is made of anything but a literal.
func TestKeys(t *testing.T) {
	found := 0
	var all strings.Builder
	for path, src := range sources(t) {
		all.WriteString(src)
		for _, m := range called.FindAllStringSubmatch(strings.ReplaceAll(src, "record.Say(", ""), -1) { // codes: package said
			found++
			if _, ok := english().texts[Key(m[1])]; !ok {
				t.Errorf("%s: no message %q", path, m[1])
			}
		}
		if glued := converted.FindAllString(src, -1); len(glued) > 0 {
			t.Errorf("%s: a key that is no literal: %q", path, glued)
		}
	}
	for key := range english().texts {
		if !strings.Contains(all.String(), `"`+string(key)+`"`) {
			t.Errorf("message %q is not used", key)
		}
	}
	if found < 300 {
		t.Errorf("only %d keys were found", found)
	}
}

// TestUnknownKey: a key that is not in the catalogue is never printed.
func TestUnknownKey(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown key did not panic")
		}
	}()
	english().Text("no such key")
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{english().Text("says.noloss", "bound", "0.7 %"), "no loss above 0.7 %"},
		{english().Text("rest.warnings", "n", 1, "report", "tare report"), "Charts, latencies, every layer and check, 1 warning: tare report --open (or -v)"},
		{english().Text("rest.warnings", "n", 3, "report", "tare report"), "Charts, latencies, every layer and check, 3 warnings: tare report --open (or -v)"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if p := english().Of("checks.failed", "which", "order"); len(p) < 3 || p[0] != (Piece{Text: "Checks failed", Tone: "broken"}) || p[2] != (Piece{Name: "which"}) {
		t.Errorf("%+v", p)
	}
	for _, file := range []string{"a = 1\na = 2\n", "no sign"} {
		if _, err := parse(file); err == nil {
			t.Errorf("%q was read", file)
		}
	}
}

// TestForm: every placeholder and every tone is closed, and tones are known.
func TestForm(t *testing.T) {
	tones := []string{"strong", "faint", "bad", "good", "unsure", "calm", "broken", "code"}
	for key, text := range english().texts {
		if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "<") != strings.Count(text, ">") {
			t.Errorf("%s: %q is not closed", key, text)
		}
		for _, p := range english().Of(key) {
			if p.Tone != "" && !slices.Contains(tones, p.Tone) {
				t.Errorf("%s: no tone %q", key, p.Tone)
			}
		}
	}
}
