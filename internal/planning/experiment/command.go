package experiment

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// commandKind is the kind and the name of the workload that ForCommand makes.
const commandKind = "command"

// ForCommand makes the experiment that compares one command in all arms. A path of a program
// that begins with ./ or ../ is relative to dir, since the command starts in the data directory
// of an arm. where is the flag that the errors name.
func ForCommand(where, command, dir string, words Words) (*Experiment, error) {
	e := defaults(commandKind)
	e.Title = command
	kind, _ := words.kind(commandKind)
	w := Workload{Name: commandKind, Kind: commandKind, Params: kind.complete(nil), Share: 1, Baseline: Baseline}
	s := &sink{where: where}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: fromDir(command, dir), Style: yaml.DoubleQuotedStyle}
	w.applyParam("command", n, words, s)
	if err := s.err(); err != nil {
		return nil, err
	}
	e.Workloads = []Workload{w}
	return e, nil
}

// fromDir makes the path of the command's program absolute, where it begins with ./ or ../.
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
