// Package settings reads values of flags from the environment (TARE_NAME) and from configuration files.
// It knows no command: a Vocabulary says which there are, with their flags.
package settings

import (
	"slices"
	"strings"
)

// Value is what the environment or a file gives a flag.
type Value struct {
	Command string   // the command that it is for, as "cache prune", with those below; empty: all
	Flag    string   // its name without dashes
	Texts   []string // as on the command line; several in a list of a file
	From    string   // TARE_NAME, or FILE:LINE
}

// covers says whether the value is for a command.
func (v Value) covers(command string) bool {
	return v.Command == "" || v.Command == command || strings.HasPrefix(command, v.Command+" ")
}

// Vocabulary has the names of the flags of each command, by its path.
type Vocabulary map[string][]string

// flags are the flags of a command and of those below it, sorted.
func (v Vocabulary) flags(command string) (all []string) {
	section := Value{Command: command}
	for path, names := range v {
		if section.covers(path) {
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// below are the commands directly below another one.
func (v Vocabulary) below(command string) (all []string) {
	for path := range v {
		rest := path
		if command != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(path, command+" "); !ok {
				continue
			}
		}
		first, _, _ := strings.Cut(rest, " ")
		all = append(all, first)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// prefix begins the names of variables.
const prefix = "TARE_"

// Variable is the variable of a flag.
func Variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Environment reads the variables of flags from environ, which is as os.Environ. An empty one counts as
// not set. unused are the variables with the prefix that belong to no flag and are not in known.
func Environment(v Vocabulary, environ []string, known ...string) (values []Value, unused []string) {
	flags := v.flags("")
	for _, line := range environ {
		name, text, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, prefix) || text == "" {
			continue
		}
		i := slices.IndexFunc(flags, func(f string) bool { return Variable(f) == name })
		switch {
		case i >= 0:
			values = append(values, Value{Flag: flags[i], Texts: []string{text}, From: name})
		case !slices.Contains(known, name):
			unused = append(unused, name)
		}
	}
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Flag, b.Flag) })
	slices.Sort(unused)
	return values, unused
}

// planned is the command whose section plan has too: tare plan shows what tare run does. "": there is none.
func planned(command string) string {
	if command == "plan" {
		return "run"
	}
	return ""
}

// Find returns the value of a command's flag. The first one in values counts.
func Find(values []Value, command, flag string) (Value, bool) {
	also := planned(command)
	i := slices.IndexFunc(values, func(v Value) bool { return v.Flag == flag && (v.covers(command) || also != "" && v.covers(also)) })
	if i < 0 {
		return Value{}, false
	}
	if !values[i].covers(command) { // a section of the command's own comes before that of the other one
		if own := slices.IndexFunc(values, func(v Value) bool { return v.Flag == flag && v.Command == command }); own >= 0 {
			i = own
		}
	}
	return values[i], true
}

// InForce leaves out the values that an earlier one replaces for all their commands.
func InForce(values []Value) (out []Value) {
	for _, v := range values {
		if first, _ := Find(values, v.Command, v.Flag); first.From == v.From {
			out = append(out, v)
		}
	}
	return out
}
