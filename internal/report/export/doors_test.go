package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile are texts that others could have put into a name, and what must not leave tare.
var hostile = map[string]string{
	"clear the screen":    "a\x1b[2J\x1b[Hb",
	"title of the window": "a\x1b]0;owned\x07b",
	"cursor up":           "a\x1b[5Ab",
	"C1 control":          "a\u009b2Jb",
	"bell":                "a\ab",
	"backspace":           "a\b\b\bb",
	"carriage return":     "a\rb",
	"right to left":       "a\u202eb",
	"isolate":             "a\u2066b",
	"no width":            "a\u200bb",
	"line separator":      "a\u2028b",
	"private use":         "a\ue000b",
	"no UTF-8":            "a\xff\xfeb",
	"nul":                 "a\x00b",
	"filler":              "a\u3164b",
	"variation selector":  "a\ufe0fb",
	"tag characters":      "a\U000e0041b",
}

var forbidden = []string{"\x1b[2J", "\x1b[H", "\x1b]", "\x1b[5A", "\u009b", "\a", "\b", "\r", "\u202e", "\u2066", "\u2028", "\ue000", "\u3164", "\ufe0f", "\xff", "\x00", "\U000e0041"}

func TestDoors(t *testing.T) {
	for name, s := range hostile {
		for door, out := range map[string]string{
			"Clean": Clean(s), "Terminal": Terminal(s), "Cell": cell(s), "Markdown": Markdown(s), "JSON": asJSON(t, map[string]string{s: s}),
		} {
			for _, bad := range forbidden {
				if strings.Contains(out, bad) {
					t.Errorf("%s through %s: %q", name, door, out)
				}
			}
			if door != "Markdown" && strings.Contains(out, "\u200b") || !utf8.ValidString(out) || !strings.Contains(out, "a") || !strings.Contains(out, "b") {
				t.Errorf("%s through %s: %q", name, door, out)
			}
		}
	}
	if s := Terminal("\x1b[31mtare:\x1b[0m one\n\ttwo"); s != "[31mtare:[0m one\n\ttwo" {
		t.Errorf("%q", s)
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"=1+2": "'=1+2", "+x": "'+x", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": "' =1", "\r\n-1": "'  -1", "＝1": "'＝1", "host": "host", "": "", "a=b": "a=b",
	} {
		if got := cell(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Nobody is called, and nothing is linked, by a name in a comment.
func TestMarkdown(t *testing.T) {
	for _, s := range []string{"@org/team", "a @user b", "https://example.com/x", "HTTP://x", "www.example.com", "mailto:a@b.c", "user@example.com", "#12", "org/repo#7", "ftp://x"} {
		out := Markdown(s)
		if !strings.Contains(out, "\u200b") || strings.Contains(out, "://") || strings.Contains(out, "www.") || strings.Contains(out, "@u") || strings.Contains(out, "@o") {
			t.Errorf("%q: %q", s, out)
		}
	}
	for in, want := range map[string]string{"<img>": "&lt;img&gt;", "a|b": "a\\|b", "*x*": "\\*x\\*", "3 @ 5": "3 @ 5", "1/s": "1/s"} {
		if got := Markdown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// No text begins a heading, a list or a rule, and HTML within Markdown is as harmless.
func TestMarkdownLine(t *testing.T) {
	for in, want := range map[string]string{"# x": "\\# x", "1. x": "1\\. x", "- x": "\\- x", "---": "\\---", "+": "\\+", "-2 %": "-2 %", "1.5 s": "1.5 s", "host": "host"} {
		if got := MarkdownLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := HTML("<b> @org/team http://x"); got != "&lt;b&gt; @\u200borg/team http:/\u200b/x" {
		t.Errorf("%q", got)
	}
}

// JSON says the same, whatever is in a text, and a terminal shows it all.
func TestJSONIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		b, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil || got != strings.ToValidUTF8(want, "\ufffd") {
			t.Fatalf("%q: %q %v", want, got, err)
		}
		if at := bytes.IndexFunc(b, odd); at >= 0 {
			t.Fatalf("%q: raw %q", want, b[at:])
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := Object(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
