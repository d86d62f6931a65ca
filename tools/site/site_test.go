package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each fault of a site is found, and a whole site has none.
func TestInspect(t *testing.T) {
	const page = `<h1 id="top">a</h1><a href="#top"></a><a href="b/c.html#%E5%8D%B7"></a><a href="https://example.org"></a>` +
		`<script src="x.js"></script>`
	whole := map[string]string{
		"index.html": page, "b/c.html": `<h2 id="卷"></h2><a href="../index.html"></a>`,
		"x.js": "", "s.css": "a { b: url(x.js) url(data:x) }",
	}
	const network = ": read over a network"
	for name, c := range map[string]struct{ file, text, want string }{
		"whole":     {},
		"file":      {"b/c.html", `<a href="d.html">`, "b/c.html: d.html: no such file"},
		"anchor":    {"b/c.html", `<a href="../index.html#x">`, "b/c.html: ../index.html#x: no such anchor"},
		"folder":    {"b/c.html", `<a href="../b">`, "b/c.html: ../b: a folder, which a browser does not open from a disk"},
		"picture":   {"b/c.html", `<img src="https://example.org/a.png">`, "b/c.html: https://example.org/a.png" + network},
		"server":    {"b/c.html", `<link href="//example.org/a.css">`, "b/c.html: //example.org/a.css" + network},
		"style":     {"s.css", "@import 'https://example.org/a.css'", "s.css: https://example.org/a.css" + network},
		"no script": {"x.js", "-", "index.html: x.js: no such file"},
	} {
		dir := t.TempDir()
		for file, text := range whole {
			if file == c.file {
				text = c.text
			}
			if text == "-" {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		found, err := inspect(dir)
		if err != nil || found.pages != 2 {
			t.Errorf("%s: %v, %+v", name, err, found)
			continue
		}
		if c.want == "" && len(found.errors) > 0 || c.want != "" && !slices.Contains(found.errors, c.want) {
			t.Errorf("%s: %q, want %q", name, found.errors, c.want)
		}
	}
	if _, err := inspect(t.TempDir()); err == nil {
		t.Error("an empty folder is a whole site")
	}
}
