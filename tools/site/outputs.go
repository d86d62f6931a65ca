package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// outputs are commands with what they printed, by preset.
type outputs map[string][]string

// asked finds the preset of a command: that of the main command of README is quick.
var asked = regexp.MustCompile(
	`^\$ (?:sudo )?(?:bin/)?tare (?:run|advise)(?: --continue)?(?: ([a-z][a-z0-9-]*))?(?: .*)?$`)

func presetOf(command string) (string, bool) {
	m := asked.FindStringSubmatch(command)
	switch {
	case m == nil:
		return "", false
	case m[1] == "":
		return "quick", true
	}
	return m[1], true
}

// collect finds the outputs in docs/results and in the pages. It is an error if a file is of no preset, or a preset
// has no output.
func (s *site) collect() error {
	for _, language := range languages {
		s.outputs[language] = outputs{}
	}
	files, err := s.glob("docs/results/*.txt")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := s.read(f)
		if err != nil {
			return err
		}
		for _, o := range cut(string(b)) {
			name, ok := presetOf(strings.SplitN(o, "\n", 2)[0])
			if !ok || !s.knows(name) {
				return fmt.Errorf("%s: of no preset: %.60q", f, o)
			}
			s.places[f] = place{"", "questions/" + name + ".md"}
			s.outputs[english][name] = append(s.outputs[english][name], o)
		}
	}
	if err := s.fenced(); err != nil {
		return err
	}
	for _, p := range s.presets[english] {
		if len(s.outputs[english][p.name]) == 0 {
			return fmt.Errorf("no output of %s in docs/results or the pages", p.name)
		}
	}
	return nil
}

func (s *site) knows(name string) bool {
	return slices.ContainsFunc(s.presets[english], func(p preset) bool { return p.name == name })
}

// fenced adds the outputs that pages have between fences.
func (s *site) fenced() error {
	for _, src := range slices.Sorted(maps.Keys(s.places)) {
		p := s.places[src]
		if path.Ext(src) != ".md" || p.language == "" {
			continue
		}
		b, err := s.read(src)
		if err != nil {
			return err
		}
		blocks := strings.Split("\n"+string(b), "\n```")
		for i := 1; i < len(blocks); i += 2 {
			_, text, _ := strings.Cut(blocks[i], "\n")
			first, rest, _ := strings.Cut(text, "\n")
			name, ok := presetOf(first)
			if ok && rest != "" && s.knows(name) && len(s.outputs[p.language][name]) == 0 {
				s.outputs[p.language][name] = []string{text}
			}
		}
	}
	return nil
}

// cut divides a file at the commands that follow output.
func cut(text string) (all []string) {
	was := ""
	for line := range strings.Lines(text) {
		if begins := strings.HasPrefix(line, "$ "); begins && !strings.HasPrefix(was, "$ ") {
			all = append(all, "")
		}
		if len(all) > 0 {
			all[len(all)-1] += line
		}
		was = line
	}
	for i := range all {
		all[i] = strings.TrimRight(all[i], "\n")
	}
	return all
}
