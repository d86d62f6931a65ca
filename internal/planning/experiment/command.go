package experiment

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// CommandKind is the kind of workload that ForCommand makes, and the
// workload's name.
const CommandKind = "command"

// ForCommand is the experiment that compares one command in all arms, on behalf
// of where: the flag that stands in the errors. A program given by a path that
// begins with ./ or ../ is taken from dir, for it starts in the data directory
// of an arm.
func ForCommand(where, command, dir string, words Words) (*Experiment, error) {
	e := defaults(CommandKind)
	e.Title = command
	kind, _ := words.kind(CommandKind)
	w := Workload{Name: CommandKind, Kind: CommandKind, Params: kind.complete(nil), Share: 1, Baseline: Baseline}
	s := &sink{where: where}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: fromDir(command, dir), Style: yaml.DoubleQuotedStyle}
	w.applyParam("command", n, words, s)
	if err := s.err(); err != nil {
		return nil, err
	}
	e.Workloads = []Workload{w}
	return e, nil
}

// fromDir makes the path of a program absolute.
func fromDir(command, dir string) string {
	command = strings.TrimLeft(command, " \t")
	program, rest := command, ""
	if i := strings.IndexAny(command, " \t"); i >= 0 {
		program, rest = command[:i], command[i:]
	}
	if !strings.HasPrefix(program, "./") && !strings.HasPrefix(program, "../") || strings.ContainsAny(program, `'"\`) {
		return command
	}
	path := filepath.Join(dir, program)
	if strings.ContainsAny(path, " \t\"\\$`|&;<>()*?[~#") && !strings.Contains(path, "'") {
		path = "'" + path + "'"
	}
	return path + rest
}
