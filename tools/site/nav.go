package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// entry is a title with a page or with entries.
type entry map[string]any

// navigation writes MkDocs' configuration of each language. JSON is YAML.
func (s *site) navigation() error {
	for _, language := range languages {
		nav, err := s.nav(language)
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(map[string]any{
			"INHERIT":  "base.yml",
			"docs_dir": language,
			"site_dir": path.Join("site", strings.TrimPrefix(language, english)),
			"theme":    map[string]any{"language": language},
			"nav":      nav,
			"extra":    map[string]any{"home": s.home},
		}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.out, language+".yml"), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) nav(language string) ([]any, error) {
	w := saying[language]
	docs, err := s.rows(language)
	if err != nil {
		return nil, err
	}
	questions := []any{"questions/" + index}
	group := []any(nil)
	for i, p := range s.presets[language] {
		group = append(group, entry{p.name: "questions/" + p.name + ".md"})
		if i+1 == len(s.presets[language]) || s.presets[language][i+1].group != p.group {
			title := regexp.MustCompile(`[:：].*`).ReplaceAllString(p.group, "")
			questions, group = append(questions, entry{title: group}), nil
		}
	}
	nav := []any{
		entry{w.titles[index]: index},
		entry{w.questions: questions},
		entry{w.documentation: docs},
		entry{w.gallery: "gallery/" + index},
	}
	if language == english {
		nav = append(nav, entry{w.project: []any{"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}})
	}
	return nav, nil
}

var row = regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([\w./-]+\.md)\) \|`)

// rows are the pages of the language's docs/README.md, in its order. A page that it does not name is an error.
func (s *site) rows(language string) ([]any, error) {
	src := "docs/" + index
	if language == chinese {
		src = "docs/zh/" + index
	}
	b, err := s.read(src)
	if err != nil {
		return nil, err
	}
	all, named := []any{entry{saying[language].titles["docs/"+index]: "docs/" + index}}, map[string]bool{src: true}
	for _, m := range row.FindAllStringSubmatch(string(b), -1) {
		file := path.Join(path.Dir(src), m[2])
		p, ok := s.places[file]
		if !ok {
			return nil, fmt.Errorf("%s: no page %s", src, file)
		}
		named[file] = true
		all = append(all, entry{m[1]: p.path})
		if p.path == "docs/schema/fields.md" {
			all = append(all, entry{saying[language].schemas: "docs/schema/" + index})
		}
	}
	for file, p := range s.places {
		if p.language == language && strings.HasPrefix(file, "docs/") && path.Ext(file) == ".md" && !named[file] {
			return nil, fmt.Errorf("%s has no row for %s", src, file)
		}
	}
	return all, nil
}
