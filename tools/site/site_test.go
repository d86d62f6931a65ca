package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const example = "https://example.org/tare"

// What tare presets prints, and in Chinese.
func TestParsePresets(t *testing.T) {
	got := parsePresets(`Container: how much is lost to it?
  quick                   3 min  cost of each container layer on this host
                                 runs here, nothing to install

卷：各有多快？
  etcd-disk               90 s  这块盘够不够
                                 快
                                 可在本机运行，什么都不用装

Run one: tare run NAME. Its arms and loads: tare presets show NAME
`)
	want := []preset{
		{"Container: how much is lost to it?", "quick", "3 min", "", ""},
		{"卷：各有多快？", "etcd-disk", "90 s", "", ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The title is that of the file, whole; the line about this host is left out.
func TestParseShown(t *testing.T) {
	for _, colon := range []string{": ", "："} {
		head := "# yaml-language-server: $schema=x\n# a" + colon + "loss of a server, alone and beside a batch pod\n"
		title, file, err := parseShown("a", head+"# 12 min; runs here\n#\nname: a\n")
		if err != nil || title != "loss of a server, alone and beside a batch pod" || file != head+"#\nname: a\n" {
			t.Errorf("title %q, file %q, error %v", title, file, err)
		}
	}
	for _, wrong := range []string{"", "# yaml-language-server: x\n# b: other\n#\n#\n", "name: a\n# a: x\n#\n#\n"} {
		if title, _, err := parseShown("a", wrong); err == nil {
			t.Errorf("%q: %q", wrong, title)
		}
	}
}

// An output belongs to the preset of its first command; commands that follow each other belong together.
func TestOutputs(t *testing.T) {
	const one = "$ sudo tare run a --budget 5m\n$ sudo tare run --continue a\nfirst\n\n  more"
	const two = "$ tare run a \\\n    --arms x\nsecond"
	got, want := cut(one+"\n\n"+two+"\n"), []string{one, two}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for command, want := range map[string]string{
		"$ sudo bin/tare run":                        quick,
		"$ sudo tare run cpu-limit":                  "cpu-limit",
		"$ tare run --continue pod-network --budget": "pod-network",
		"$ sudo tare advise colocation":              "colocation",
		"$ tare doctor":                              "",
		"tare run cpu-limit":                         "",
	} {
		if got, _ := presetOf(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// Links lead to where the site has a file, and to the project for what it has not. A link to nothing is an error.
func TestLinks(t *testing.T) {
	s := &site{top: "../..", home: example, places: map[string]place{}}
	if err := s.find(); err != nil {
		t.Fatal(err)
	}
	s.places["docs/results/ab.txt"] = place{"", "questions/ab.md"}
	en, zh := place{english, "docs/volumes.md"}, place{chinese, "docs/volumes.md"}
	for _, c := range []struct {
		page         place
		src          string
		target, want string
	}{
		{en, "docs/volumes.md", "container.md#images", "container.md#images"},
		{en, "docs/volumes.md", "../README.md", "../README.md"},
		{en, "docs/volumes.md", "../README.zh-CN.md", "../zh/index.html"},
		{en, "docs/volumes.md", "zh/volumes.md", "../zh/docs/volumes.html"},
		{en, "docs/volumes.md", "results/ab.txt", "../questions/ab.md"},
		{en, "docs/volumes.md", "results/", "../questions/README.md"},
		{en, "docs/volumes.md", "schema", "schema/README.md"},
		{en, "docs/volumes.md", "../tools/README.md", example + "/tools/README.md"},
		{en, "docs/volumes.md", "https://bencher.dev", "https://bencher.dev"},
		{zh, "docs/zh/volumes.md", "container.md", "container.md"},
		{zh, "docs/zh/volumes.md", "../container.md", "../../docs/container.html"},
		{zh, "docs/zh/volumes.md", "../results/ab.txt", "../questions/ab.md"},
		{zh, "docs/zh/volumes.md", "../job.yaml", "../../docs/job.yaml"},
		{zh, "docs/zh/volumes.md", "../../README.md", "../../index.html"},
	} {
		if got, err := s.to(c.page, c.src, c.target); err != nil || got != c.want {
			t.Errorf("%s: %s: %s, want %s (%v)", c.src, c.target, got, c.want, err)
		}
	}
	if got, err := s.to(en, "docs/volumes.md", "nothing.md"); err == nil {
		t.Errorf("a link to no file leads to %s", got)
	}
	text := "[a](zh/volumes.md)\n\n    [b](zh/volumes.md)\n\n```\n[c](zh/volumes.md)\n```\n"
	want := strings.Replace(text, "a](zh/volumes.md", "a](../zh/docs/volumes.html", 1)
	if got, err := s.turned(en, "docs/volumes.md", text); err != nil || got != want {
		t.Errorf("%q, want %q (%v)", got, want, err)
	}
}

// Each fault of a site is found, and a whole site has none.
func TestInspect(t *testing.T) {
	const page = `<h1 id="top">a</h1><a href="#top"></a><a href="b/c.html#%E5%8D%B7"></a><a href="https://example.org"></a>` +
		`<script src="x.js"></script>`
	whole := map[string]string{
		"index.html": page, "b/c.html": `<h2 id="卷"></h2><a href="../index.html"></a>`,
		"x.js": "", "s.css": "a { b: url(x.js) url(data:x) }",
		"docs/schema/plan.json": `{"$id": "` + example + `/docs/schema/plan.json"}`,
	}
	const network, schema = ": read over a network", "docs/schema/plan.json"
	for name, c := range map[string]struct{ file, text, want string }{
		"whole":     {},
		"file":      {"b/c.html", `<a href="d.html">`, "b/c.html: d.html: no such file"},
		"anchor":    {"b/c.html", `<a href="../index.html#x">`, "b/c.html: ../index.html#x: no such anchor"},
		"folder":    {"b/c.html", `<a href="../b">`, "b/c.html: ../b: a folder, which a browser does not open from a disk"},
		"picture":   {"b/c.html", `<img src="https://example.org/a.png">`, "b/c.html: https://example.org/a.png" + network},
		"server":    {"b/c.html", `<link href="//example.org/a.css">`, "b/c.html: //example.org/a.css" + network},
		"style":     {"s.css", "@import 'https://example.org/a.css'", "s.css: https://example.org/a.css" + network},
		"no script": {"x.js", "-", "index.html: x.js: no such file"},
		"schema":    {schema, `{"$id": "https://example.com/x.json"}`, schema + ": its $id is https://example.com/x.json"},
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
		found, err := inspect(dir, example)
		if err != nil || found.pages != 2 || found.schemas != 1 {
			t.Errorf("%s: %v, %+v", name, err, found)
			continue
		}
		if c.want == "" && len(found.errors) > 0 || c.want != "" && !slices.Contains(found.errors, c.want) {
			t.Errorf("%s: %q, want %q", name, found.errors, c.want)
		}
	}
	if _, err := inspect(t.TempDir(), example); err == nil {
		t.Error("an empty folder is a whole site")
	}
}

// The built site has file:// as its home: each schema, and the one that tare names to editors, is there.
func TestHomeOnDisk(t *testing.T) {
	dir := builtSite(t)
	files, err := filepath.Glob(filepath.Join(dir, "docs/schema/*.json"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(b, &schema); err != nil || schema.ID != "file://"+f {
			t.Errorf("%s calls itself %s (%v)", f, schema.ID, err)
		}
	}
	for page, want := range map[string]string{
		"questions/quick.html":   fmt.Sprintf("$schema=file://%s/docs/schema/experiment.json", dir),
		"index.html":             "git clone file://" + dir,
		"CITATION.cff":           "repository-code: file://" + dir + "\n",
		"gallery/neighbour.html": "file://" + dir,
	} {
		if b, err := os.ReadFile(filepath.Join(dir, page)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s does not name %s (%v)", page, want, err)
		}
	}
}
