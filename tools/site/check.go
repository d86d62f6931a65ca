package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// checked is what was found in a built site.
type checked struct {
	dir          string
	anchors      map[string]map[string]bool // of each page
	from         []reference
	pages, links int
	errors       []string
}

// reference is a link of a page, or a file that it reads.
type reference struct {
	page, to string
	reads    bool // the browser follows it by itself
}

func inspect(dir string) (*checked, error) {
	c := &checked{dir: dir, anchors: map[string]map[string]bool{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case path.Ext(name) == ".html":
			return c.page(name)
		case path.Ext(name) == ".css":
			return c.style(name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range c.from {
		if why := c.follow(r); why != "" {
			c.errors = append(c.errors, fmt.Sprintf("%s: %s: %s", r.page, r.to, why))
		}
	}
	if c.pages == 0 {
		err = fmt.Errorf("no page in %s", dir)
	}
	return c, err
}

// attributes that name a file, by element; those of a and area are followed by the reader.
var attributes = map[string]string{"a": "href", "area": "href", "link": "href", "script": "src", "img": "src",
	"iframe": "src", "source": "src", "form": "action", "object": "data", "use": "href"}

func (c *checked) page(name string) error {
	f, err := os.Open(filepath.Join(c.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	root, err := html.Parse(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.pages++
	c.anchors[name] = map[string]bool{"": true}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" || a.Key == "name" && n.Data == "a" {
				c.anchors[name][a.Val] = true
			}
			if a.Key == attributes[n.Data] && n.Type == html.ElementNode {
				c.from = append(c.from, reference{name, a.Val, n.Data != "a" && n.Data != "area"})
			}
		}
	}
	return nil
}

var styleURL = regexp.MustCompile(`(?:url\(|@import )["']?([^"')]+)`)

func (c *checked) style(name string) error {
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	for _, m := range styleURL.FindAllSubmatch(b, -1) {
		if to := string(m[1]); !strings.HasPrefix(to, "#") {
			c.from = append(c.from, reference{name, to, true})
		}
	}
	return err
}

// follow is why a reference leads nowhere.
func (c *checked) follow(r reference) string {
	u, err := url.Parse(r.to)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme == "data" && r.reads, u.Scheme == "mailto" && !r.reads:
		return ""
	case u.Scheme != "" || u.Host != "":
		if r.reads {
			return "read over a network"
		}
		return ""
	}
	c.links++
	file := path.Join(path.Dir(r.page), u.Path)
	if u.Path == "" {
		file = r.page
	}
	info, err := os.Stat(filepath.Join(c.dir, file))
	switch {
	case err != nil:
		return "no such file"
	case info.IsDir():
		return "a folder, which a browser does not open from a disk"
	case u.Fragment != "" && path.Ext(file) == ".html" && !c.anchors[file][u.Fragment]:
		return "no such anchor"
	}
	return ""
}
