package messages

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// used finds the keys in the sources of the report and in its templates.
var used = regexp.MustCompile(`"([a-z]+(?:\.[a-z]+)+)"`)

func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"../../report/*.go", "../../report/*.tmpl", "../quantity/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, p := range paths {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			all.WriteString(read(t, p))
		}
	}
	return all.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// called finds the first argument of every call that takes a key.
var called = regexp.MustCompile(`\b(?:msg|text|word)(?:\(| )"([^"]+)"`)

// TestKeys: every key that is asked for is there, and every message is used.
// Some keys are put together of a form and a kind, both of which are listed here.
func TestKeys(t *testing.T) {
	src := sources(t)
	keys := slices.Collect(maps.Keys(english()))
	built := []string{}
	for _, form := range []string{"finding.", "line."} {
		for _, kind := range []string{"moved", "equal", "open", "unknown", "invalid", "amount"} {
			built = append(built, form+kind)
		}
	}
	for _, kind := range []string{"moved", "equal", "open", "doubted", "nothing"} {
		built = append(built, "group."+kind+".first", "group."+kind+".then")
	}
	for _, prefix := range []string{"arm.", "adds.", "verdict.", "gate.answer.", "count.points.", "calibration.how."} {
		if !strings.Contains(src, `"`+prefix+`"`) {
			t.Errorf("no key begins with %q any more", prefix)
		}
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) {
				built = append(built, k)
			}
		}
	}
	asked := slices.Clone(built)
	for _, m := range used.FindAllStringSubmatch(src, -1) {
		if slices.Contains(keys, m[1]) {
			asked = append(asked, m[1])
		}
	}
	for _, m := range called.FindAllStringSubmatch(src, -1) {
		asked = append(asked, m[1])
		if !slices.Contains(keys, m[1]) && !strings.HasSuffix(m[1], ".") {
			t.Errorf("no message %q", m[1])
		}
	}
	for _, k := range built {
		if !slices.Contains(keys, k) {
			t.Errorf("no message %q", k)
		}
	}
	for _, k := range keys {
		if !slices.Contains(asked, k) {
			t.Errorf("message %q is not used", k)
		}
	}
	if len(asked) < 50 {
		t.Errorf("only %d keys were found", len(asked))
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Text("checks.failed", "n", 2, "which", "order; halves"), "2 failed: order; halves"},
		{Text("warnings.more", "n", 1), "1 more warning: --verbose"},
		{Text("warnings.more", "n", 3), "3 more warnings: --verbose"},
		{Text("no such key"), "no such key"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if p := Of("does.costs", "metric", "throughput"); len(p) != 2 || p[0] != (Piece{Text: "costs ", Tone: "bad"}) || p[1] != (Piece{Name: "metric", Tone: "bad"}) {
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
	for key, text := range english() {
		if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "<") != strings.Count(text, ">") {
			t.Errorf("%s: %q is not closed", key, text)
		}
		for _, p := range Of(key) {
			if p.Tone != "" && !slices.Contains(tones, p.Tone) {
				t.Errorf("%s: no tone %q", key, p.Tone)
			}
		}
	}
}
