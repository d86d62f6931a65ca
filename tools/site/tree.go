package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// site is what the pages are made of. Paths in it are relative and have slashes.
type site struct {
	top  string // the project's tree
	tare string // the program
	home string // address of the project
	was  string // the address that the files of the tree name
	out  string // one folder for each language

	places  map[string]place // by path in the tree
	presets map[string][]preset
	outputs map[string]outputs
}

// place is where a file of the tree is on the site: below the folder of its language.
type place struct {
	language string // "": each language has its own
	path     string
}

// languages are the folders of pages; the site of the first is the top, the others are below it.
var languages = []string{english, chinese}

const (
	english = "en"
	chinese = "zh"
)

// beside are files that pages link to as they are.
var beside = []string{"LICENSE", "CITATION.cff", "docs/job.yaml", "docs/grafana/*", "docs/notebook/*",
	"docs/notebook/result/*"}

func open(top, tare, home, out string) (*site, error) {
	s := &site{top: top, tare: tare, home: strings.TrimSuffix(home, "/"), out: out,
		places: map[string]place{}, presets: map[string][]preset{}, outputs: map[string]outputs{}}
	makefile, err := s.read("Makefile")
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`(?m)^HOME_URL = (\S+)$`).FindSubmatch(makefile)
	if m == nil {
		return nil, fmt.Errorf("Makefile has no HOME_URL")
	}
	s.was = string(m[1])
	for _, language := range languages {
		if s.presets[language], err = s.ask(language); err != nil {
			return nil, err
		}
	}
	if err := s.find(); err != nil {
		return nil, err
	}
	if err := s.collect(); err != nil {
		return nil, err
	}
	return s, s.prints("docs/schema/experiment.json")
}

func (s *site) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(s.top, name)) }

// find fills places.
func (s *site) find() error {
	for _, g := range []struct{ pattern, language, below string }{
		{"*.md", english, "."}, {"docs/*.md", english, "docs"}, {"docs/schema/*.md", english, "docs/schema"},
		{"docs/zh/*.md", chinese, "docs"},
	} {
		files, err := s.glob(g.pattern)
		if err != nil {
			return err
		}
		for _, f := range files {
			s.places[f] = place{g.language, path.Join(g.below, path.Base(f))}
		}
	}
	s.places["README.zh-CN.md"] = place{chinese, index}
	for _, pattern := range append([]string{"docs/schema/*.json"}, beside...) {
		files, err := s.glob(pattern)
		if err != nil {
			return err
		}
		for _, f := range files {
			s.places[f] = place{english, f}
		}
	}
	s.places["docs/schema"] = place{english, "docs/schema/" + index}
	s.places["docs/results"] = place{"", "questions/" + index}
	for _, p := range s.presets[english] {
		s.places["questions/"+p.name+".md"] = place{"", "questions/" + p.name + ".md"}
	}
	for _, r := range reports {
		s.places["gallery/"+r.name+".html"] = place{"", "gallery/" + r.name + ".html"}
	}
	return nil
}

// index is the page of a folder; MkDocs makes index.html of it.
const index = "README.md"

// glob returns paths in the tree; it is an error when there is none.
func (s *site) glob(pattern string) ([]string, error) {
	files, err := fs.Glob(os.DirFS(s.top), pattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file %s", pattern)
	}
	var plain []string
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(s.top, f)); err == nil && !info.IsDir() {
			plain = append(plain, f)
		}
	}
	return plain, err
}

// write writes everything below s.out.
func (s *site) write() error {
	for src, p := range s.places {
		if p.language == "" || src == "docs/schema" || strings.HasPrefix(src, "docs/schema/") && path.Ext(src) == ".json" {
			continue // generated
		}
		if err := s.copy(src, p); err != nil {
			return err
		}
	}
	for _, each := range []func() error{s.questions, s.schemas, s.gallery, s.navigation} {
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

// copy puts a file of the tree on the site, a page with its links turned.
func (s *site) copy(src string, p place) error {
	b, err := s.read(src)
	if err != nil {
		return err
	}
	if path.Ext(src) == ".md" {
		return s.page(p, src, string(b))
	}
	if path.Ext(src) == ".cff" {
		b = bytes.ReplaceAll(b, []byte(s.was), []byte(s.home))
	}
	return s.put(p.language, p.path, b)
}

// page writes a page. Links in it are relative to src, a path in the tree.
func (s *site) page(p place, src, text string) error {
	text = strings.ReplaceAll(text, s.was, s.home)
	text, err := s.turned(p, src, text)
	if err != nil {
		return err
	}
	return s.put(p.language, p.path, s.headed(p, text))
}

// headed is a page with what theme/partials/alternate.html reads. Pages with wide output have one column less.
func (s *site) headed(p place, text string) []byte {
	hidden := ""
	switch {
	case p.path == index:
		hidden = "hide: [navigation]\n"
	case strings.HasPrefix(p.path, "questions/"), strings.HasPrefix(p.path, "gallery/"):
		hidden = "hide: [toc]\n"
	}
	return []byte("---\nother: " + s.other(p) + "\n" + hidden + "---\n\n" + text)
}

// other is the same page in the other language, or the first page of that; relative to the top of p's language.
func (s *site) other(p place) string {
	to := place{english, index}
	if p.language == english {
		to.language = chinese
	}
	for _, q := range s.places {
		if q.path == p.path && (q.language == to.language || q.language == "") || p.path == "gallery/"+index {
			to.path = p.path
		}
	}
	return relative(built(place{p.language, index}), built(to))
}

func (s *site) put(language, name string, b []byte) error {
	file := filepath.Join(s.out, language, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o666)
}
