package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// shown is a report of the gallery: of a result, or of logs that tare imports.
type shown struct {
	name string
	from string   // folder of the tree with the result, or with the logs
	logs []string // arguments of tare import, in that folder; none: it is a result
}

// reports are in the order of words.shown. The order of numbers is that of interest.
var reports = [4]shown{
	{"neighbour", "docs/notebook/result", nil},
	{"undecided", "record/testdata/quick", nil},
	{"study", "internal/logs/importer/testdata/mysql-kubernetes",
		[]string{"host=bare-metal.log", "besteffort=pod-best-effort.log", "guaranteed=pod-guaranteed.log"}},
	{"claim", "internal/logs/importer/testdata/clickhouse-colocation",
		[]string{"alone=alone.json", "hog=hog-no-isolation.json", "qos-level=hog-qos-level.json",
			"--claim", "hog:throughput=-24%"}},
}

// gallery writes the reports and a page about them.
func (s *site) gallery() error {
	work, err := os.MkdirTemp("", "site")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, language := range languages {
		w := saying[language]
		var all strings.Builder
		fmt.Fprintf(&all, "# %s\n\n%s\n", w.gallery, w.galleryLead)
		for i, r := range reports {
			dir := filepath.Join(work, language, r.name)
			command, text, page, err := s.report(r, language, dir)
			if err != nil {
				return err
			}
			if err := s.put(language, "gallery/"+r.name+".html", []byte(page)); err != nil {
				return err
			}
			fmt.Fprintf(&all, "\n## %s\n\n%s [%s](gallery/%s.html)\n\n```\n$ %s\n%s\n```\n",
				w.shown[i].title, w.shown[i].text, w.galleryPage, r.name, command, strings.TrimRight(text, "\n"))
		}
		if err := s.generated(language, "gallery/"+index, all.String()); err != nil {
			return err
		}
	}
	return nil
}

// report makes one in dir: the command, its output and the HTML page.
func (s *site) report(r shown, language, dir string) (command, text, page string, err error) {
	result := r.name
	if err = os.CopyFS(filepath.Join(dir, result), os.DirFS(filepath.Join(s.top, r.from))); err != nil {
		return
	}
	args := []string{"report", result}
	if r.logs != nil {
		args, dir = append(append([]string{"import"}, r.logs...), "-o", "result"), filepath.Join(dir, result)
		result = "result"
	}
	if text, err = s.command(dir, language, args...); err != nil {
		return
	}
	command = "tare " + strings.Join(args, " ")
	if r.logs == nil {
		command = "tare report " + r.from
		text = strings.ReplaceAll(text, "--continue "+r.name, "--continue "+r.from)
	} else {
		command = "cd " + path.Base(r.from) + " && " + command
	}
	page, err = s.command(dir, language, "report", result, "--format", "html")
	return
}
