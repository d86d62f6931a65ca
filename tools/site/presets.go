package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// preset is a row of `tare presets`.
type preset struct {
	group string // the question of all presets of a group
	name  string
	time  string
	title string // of the file, where it is one line
	file  string // `tare presets show NAME`, without the line about this host
}

var presetRow = regexp.MustCompile(`^  ([a-z][a-z0-9-]*) +(\d+ \S+)  \S`)

// ask asks tare for its presets.
func (s *site) ask(language string) ([]preset, error) {
	out, err := s.command(s.out, language, "presets")
	if err != nil {
		return nil, err
	}
	all := parsePresets(out)
	if len(all) == 0 {
		return nil, errors.New("tare presets prints no preset")
	}
	for i, p := range all {
		shown, err := s.command(s.out, language, "presets", "show", p.name)
		if err != nil {
			return nil, err
		}
		if all[i].title, all[i].file, err = parseShown(p.name, shown); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parseShown reads the output of `tare presets show`: the first line is for editors, the second has the title, the
// third says what of the preset runs on this host.
func parseShown(name, shown string) (title, file string, err error) {
	lines := strings.SplitAfter(shown, "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "# yaml-language-server: ") {
		return "", "", fmt.Errorf("tare presets show %s begins otherwise: %q", name, lines[0])
	}
	for _, colon := range []string{": ", "："} {
		if title, ok := strings.CutPrefix(strings.TrimSpace(lines[1]), "# "+name+colon); ok {
			return title, strings.Join(append(lines[:2:2], lines[3:]...), ""), nil
		}
	}
	return "", "", fmt.Errorf("tare presets show %s has no title: %q", name, lines[1])
}

// parsePresets reads the output of `tare presets`: a line of each group, and below it lines of each preset, the first
// with its name, its time, and the beginning of its title.
func parsePresets(out string) (all []preset) {
	group := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		switch m := presetRow.FindStringSubmatch(line); {
		case m != nil:
			all = append(all, preset{group: group, name: m[1], time: m[2]})
		case line != "" && line[0] != ' ':
			group = line
		}
	}
	return all
}

// command is what tare prints. It has no settings but the language, whoever builds the site.
func (s *site) command(dir, language string, args ...string) (string, error) {
	tare, err := filepath.Abs(s.tare)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	cmd := exec.Command(tare, append(args, "--lang", language)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "COLUMNS=100"}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tare %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}
