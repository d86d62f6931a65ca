package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/hint"
)

// empty refuses an empty value: mostly a variable of a script that is not set, and with the
// default in its place a run would begin.
func empty(args []string) error {
	for i, a := range args {
		name, value, valued := strings.Cut(a, "=")
		switch {
		case a == "" && i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "="):
			name = args[i-1]
		case a == "":
			name = "an argument"
		case !strings.HasPrefix(a, "--") || !valued || value != "":
			continue
		}
		return &usageError{fmt.Errorf("%s is empty", name), "leave it out, or give it a value: a variable of a script may not be set"}
	}
	return nil
}

// misuse makes an error of the command line out of what kong says.
func misuse(err error) error {
	var p *kong.ParseError
	if !errors.As(err, &p) || p.Context == nil {
		return &usageError{err, "tare --help"}
	}
	if p.Context.Command() != "" {
		return misused(err, p.Context)
	}
	word := ""
	if len(p.Context.Args) > 0 {
		word = p.Context.Args[0]
	}
	if word == "" || strings.HasPrefix(word, "-") {
		return &usageError{err, "tare --help"}
	}
	if slices.Contains(experiment.Presets(), word) {
		return &usageError{fmt.Errorf("%s is a preset, no command", word), "tare run " + word}
	}
	return &usageError{fmt.Errorf("no command %q%s", word, hint.DidYouMean(word, commandsOf(p.Context.Model.Node))), "tare --help"}
}

// misused is about a command that is known, with arguments that it does not take.
func misused(err error, at *kong.Context) error {
	command := at.Selected()
	help := "tare " + command.Path() + " --help"
	last := at.Args[len(at.Args)-1]
	if command.Path() == "presets" && slices.Contains(experiment.Presets(), last) {
		return &usageError{err, "tare presets show " + last}
	}
	if m := belowZero.FindStringSubmatch(err.Error()); m != nil {
		return &usageError{fmt.Errorf("%s: %s must be positive", m[1], m[2]), help}
	}
	if m := noValue.FindStringSubmatch(err.Error()); m != nil {
		return &usageError{fmt.Errorf("%s: its value is missing", m[1]), help}
	}
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil && printsAs(command, m[1]) {
		return &usageError{err, "--format " + m[1]}
	}
	if m := unexpected.FindStringSubmatch(err.Error()); m != nil {
		if meant := meantCommand(command, m[1]); meant != "" {
			return &usageError{err, "tare " + meant}
		}
	}
	return &usageError{err, help}
}

// What kong says of a negative value, which it takes for a flag, of none at all, of
// a flag that there is not, and of a word too many.
var (
	belowZero   = regexp.MustCompile(`^(--[a-z-]+): expected .* value but got "(-[0-9][^"]*)"`)
	noValue     = regexp.MustCompile(`^(--[a-z-]+): expected .* value but got "EOL"`)
	unknownFlag = regexp.MustCompile(`^unknown flag --([a-z]+)\b`)
	unexpected  = regexp.MustCompile(`^unexpected argument (\S+)`)
)

// printsAs says that a command has a form of that name for its output.
func printsAs(command *kong.Node, form string) bool {
	for _, f := range command.Flags {
		if f.Name == "format" {
			return f.Target.CanAddr() && takes(f.Target.Addr().Interface(), form)
		}
	}
	return false
}

func takes(flag any, form string) bool {
	f, ok := flag.(interface{ UnmarshalText([]byte) error })
	return ok && f.UnmarshalText([]byte(form)) == nil
}

// meantCommand is the command below one that a word may mean; "" for none.
func meantCommand(command *kong.Node, word string) string {
	if command.Parent != nil && command.Parent.DefaultCmd == command {
		command = command.Parent
	}
	if other := otherWords[word]; slices.Contains(commandsOf(command), other) {
		return command.Path() + " " + other
	}
	if near := hint.Nearest(word, commandsOf(command)); near != "" {
		return command.Path() + " " + near
	}
	return ""
}

// otherWords are what other tools call the commands of tare.
var otherWords = map[string]string{
	"purge": "prune", "clean": "prune", "clear": "prune", "rm": "prune", "remove": "prune", "delete": "prune",
	"ls": "list", "import": "load", "create": "build", "cat": "show", "print": "show",
}

func commandsOf(n *kong.Node) []string {
	var out []string
	for _, c := range n.Children {
		if !c.Hidden {
			out = append(out, c.Name)
		}
	}
	return out
}
