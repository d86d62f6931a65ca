package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// questions writes a page for each preset and one that lists them.
func (s *site) questions() error {
	for _, language := range languages {
		w := saying[language]
		var all strings.Builder
		fmt.Fprintf(&all, "# %s\n\n%s\n", w.questions, w.questionsLead)
		group := ""
		for _, p := range s.presets[language] {
			if p.group != group {
				group = p.group
				fmt.Fprintf(&all, "\n## %s\n\n| %s | %s | %s |\n|---|---|---|\n", group, w.preset, w.time, w.question)
			}
			fmt.Fprintf(&all, "| [%s](questions/%[1]s.md) | %s | %s |\n", p.name, p.time, p.title)
			if err := s.generated(language, "questions/"+p.name+".md", s.question(language, p)); err != nil {
				return err
			}
		}
		if err := s.generated(language, "questions/"+index, all.String()); err != nil {
			return err
		}
	}
	return nil
}

// question is the page of a preset.
func (s *site) question(language string, p preset) string {
	w := saying[language]
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**\n\n%s\n\n", p.name, p.group, fmt.Sprintf(w.lead, p.title, p.time))
	fmt.Fprintf(&b, "## %s\n\n```\nsudo tare run %s\n```\n\n", w.run, p.name)
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", w.output, w.outputLead)
	texts := s.outputs[language][p.name]
	if len(texts) == 0 {
		texts = s.outputs[english][p.name]
		fmt.Fprintf(&b, "%s\n\n", w.outputEnglish)
	}
	for _, o := range texts {
		fmt.Fprintf(&b, "```\n%s\n```\n\n", strings.TrimRight(o, "\n"))
	}
	if on := s.mention(language, p.name); len(on) > 0 {
		fmt.Fprintf(&b, "## %s\n\n", w.pages)
		for _, o := range on {
			fmt.Fprintf(&b, "- %s\n", o)
		}
		b.WriteString("\n")
	}
	lead := fmt.Sprintf(w.experimentLead, p.name)
	fmt.Fprintf(&b, "## %s\n\n%s\n\n```yaml\n%s\n```\n", w.experiment, lead, strings.TrimRight(p.file, "\n"))
	return b.String()
}

// mention are links to the pages of documentation that name a preset.
func (s *site) mention(language, name string) (links []string) {
	word := regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(name) + `($|[^\w-])`)
	if name == quick { // a word of English too
		word = regexp.MustCompile("`quick`|tare (run|plan) quick")
	}
	for _, src := range slices.Sorted(maps.Keys(s.places)) {
		p := s.places[src]
		page := strings.HasPrefix(src, "docs/") && path.Ext(src) == ".md" && path.Base(src) != index
		if p.language != language || !page {
			continue
		}
		b, err := s.read(src)
		if err != nil || !word.Match(b) {
			continue
		}
		links = append(links, fmt.Sprintf("[%s](%s)", heading(b), src))
	}
	return links
}

const quick = "quick"

// heading is the title of a page.
func heading(page []byte) string {
	first, _, _ := strings.Cut(string(page), "\n")
	return strings.TrimPrefix(first, "# ")
}

// generated writes a page that the tree does not have. Its links are those of a page at the top of the tree.
func (s *site) generated(language, name, text string) error {
	p := place{language, name}
	text, err := s.turned(p, index, text)
	if err != nil {
		return err
	}
	return s.put(language, name, s.headed(p, text))
}
