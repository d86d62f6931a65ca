package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	link  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	fence = regexp.MustCompile("^ *(```+|~~~+)")
)

// turned is a page's text with links to where the site has the files. Code stays as it is.
func (s *site) turned(p place, src, text string) (string, error) {
	lines, fenced := strings.Split(text, "\n"), ""
	var failed error
	for i, line := range lines {
		if m := fence.FindStringSubmatch(line); m != nil {
			if fenced == "" {
				fenced = m[1]
			} else if m[1] == fenced {
				fenced = ""
			}
			continue
		}
		if fenced != "" || strings.HasPrefix(line, "    ") {
			continue
		}
		lines[i] = link.ReplaceAllStringFunc(line, func(m string) string {
			to, err := s.to(p, src, m[2:len(m)-1])
			if err != nil {
				failed = fmt.Errorf("%s: %w", src, err)
			}
			return "](" + to + ")"
		})
	}
	return strings.Join(lines, "\n"), failed
}

// to is the link on the page p for a link to target in the file src of the tree.
func (s *site) to(p place, src, target string) (string, error) {
	if strings.Contains(target, ":") || strings.HasPrefix(target, "#") {
		return target, nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	file = path.Join(path.Dir(src), file)
	q, ok := s.places[file]
	if !ok {
		if _, err := os.Stat(filepath.Join(s.top, file)); err != nil {
			return target, fmt.Errorf("%s leads nowhere", target)
		}
		return s.source(file) + anchor, nil
	}
	if q.language == "" {
		q.language = p.language
	}
	if q.language == p.language {
		return relative(p.path, q.path) + anchor, nil
	}
	return relative(built(p), built(q)) + anchor, nil
}

// source is the address of a file of the tree that is not on the site.
func (s *site) source(file string) string {
	if strings.HasPrefix(s.home, github) {
		return s.home + "/blob/main/" + file
	}
	return s.home + "/" + file
}

// github serves files of a tree below blob and raw, not below the home itself.
const github = "https://github.com/"

// built is the path of a place in the built site.
func built(p place) string {
	name := p.path
	switch {
	case path.Base(name) == index:
		name = path.Join(path.Dir(name), "index.html")
	case path.Ext(name) == ".md":
		name = strings.TrimSuffix(name, ".md") + ".html"
	}
	if p.language == english {
		return name
	}
	return path.Join(p.language, name)
}

// relative is the way from one file to another.
func relative(from, to string) string {
	up, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(up)
}
