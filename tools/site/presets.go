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
	title string
	file  string // `tare presets show NAME`, without the line about this host
}

var presetRow = regexp.MustCompile(`^  ([a-z][a-z0-9-]*) +(\d+ \S+)  (\S.*)$`)

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
		lines := strings.SplitAfter(shown, "\n")
		// The first line is for editors, the third says what of the preset runs on this host.
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "# "+p.name+": ") || !strings.Contains(lines[2], "; ") {
			return nil, fmt.Errorf("tare presets show %s begins otherwise: %q", p.name, lines[0])
		}
		all[i].file = strings.Join(append(lines[:2:2], lines[3:]...), "")
	}
	return all, nil
}

// parsePresets reads the output of `tare presets` on a wide terminal: a line of each group, and below it two of
// each preset, the second of which is about this host.
func parsePresets(out string) (all []preset) {
	group := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		switch m := presetRow.FindStringSubmatch(line); {
		case m != nil:
			all = append(all, preset{group: group, name: m[1], time: m[2], title: m[3]})
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
	columns := "100"
	if args[0] == "presets" {
		columns = "1000" // titles are not wrapped
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "COLUMNS=" + columns}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tare %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}
