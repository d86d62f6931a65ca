package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// checkNotEmpty returns an error if an argument is empty. Usually a variable of a script is not set
// then, and a run with the default would not be what the user wants.
func checkNotEmpty(args []string) error {
	for i, a := range args {
		name, value, valued := strings.Cut(a, "=")
		switch {
		case !something(a) && i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "="):
			name = args[i-1]
		case !something(a):
			name = "an argument"
		case !strings.HasPrefix(a, "--") || !valued || something(value):
			continue
		}
		return &usageError{fmt.Errorf("%s is empty", name), "leave it out, or give it a value: a variable of a script may not be set"}
	}
	return nil
}

// something says that a value is more than blanks and commas.
func something(value string) bool { return strings.Trim(value, ", \t\n") != "" }

// misuse turns an error of kong into a usageError.
func misuse(err error, args []string) error {
	var elsewhere *placedError
	if errors.As(err, &elsewhere) {
		return &usageError{elsewhere, "tare config"}
	}
	var p *kong.ParseError
	if !errors.As(err, &p) || p.Context == nil {
		return &usageError{err, "tare --help"}
	}
	if at := p.Context.Selected(); at != nil {
		return misused(err, at, args)
	}
	word := ""
	if len(p.Context.Args) > 0 {
		word = p.Context.Args[0]
	}
	switch {
	case word == "image":
		return &usageError{fmt.Errorf("%s wants %s", word, uses[word].wants), uses[word].example}
	case strings.HasPrefix(err.Error(), "expected one of"):
		return &usageError{errors.New("name a command"), "tare --help"}
	case word == "" || strings.HasPrefix(word, "-"):
		return &usageError{err, "tare --help"}
	case slices.Contains(experiment.Presets(), word):
		return &usageError{fmt.Errorf("%s is a preset, no command", word), "tare run " + word}
	case otherCommands[word] != "":
		return &usageError{fmt.Errorf("no command %q", word), otherCommands[word]}
	}
	return &usageError{fmt.Errorf("no command %q%s", word, hint.DidYouMean(word, commandsOf(p.Context.Model.Node))), "tare --help"}
}

// misused is the error about wrong arguments of a known command.
func misused(err error, command *kong.Node, args []string) error {
	text, path := err.Error(), command.Path()
	help := "tare " + path + " --help"
	if m := belowZero.FindStringSubmatch(text); m != nil {
		return &usageError{fmt.Errorf("%s: %s must be positive", m[1], m[2]), help}
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return &usageError{fmt.Errorf("%s: its value is missing", m[1]), help}
	}
	if m := noNumber.FindStringSubmatch(text); m != nil {
		return &usageError{fmt.Errorf("%s: %s is not a whole number", m[1], m[2]), help}
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		return unknown(err, command, m[1], args)
	}
	if m := unexpected.FindStringSubmatch(text); m != nil {
		m[1] = strings.TrimSuffix(m[1], ",") // before kong's suggestion
		return &usageError{fmt.Errorf("%s: one word too many: %s", path, m[1]), cmp.Or(meantWord(command, m[1], args), help)}
	}
	if use, ok := uses[path]; ok && (strings.HasPrefix(text, "expected ") || strings.HasPrefix(text, "missing ")) {
		return &usageError{fmt.Errorf("%s wants %s", path, use.wants), use.example}
	}
	return &usageError{err, help}
}

// unknown is the error about a flag that the command does not have.
func unknown(err error, command *kong.Node, flag string, args []string) error {
	name := strings.TrimLeft(flag, "-")
	if word := oneDash(command, args, flag); word != "" {
		long, _, _ := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		return &usageError{fmt.Errorf("unknown flag %s: long flags have two dashes", word), "--" + long}
	}
	help := "tare " + command.Path() + " --help"
	if form := cmp.Or(formAliases[name], otherForms[name], name); strings.HasPrefix(flag, "--") && printsAs(command, form) {
		return &usageError{fmt.Errorf("unknown flag %s", flag), "--format " + form}
	}
	if instead := meantFlag(command, name); instead != "" {
		return &usageError{fmt.Errorf("unknown flag %s", flag), instead}
	}
	if len(name) == 1 { // kong would suggest any short flag
		return &usageError{fmt.Errorf("unknown flag %s", flag), help}
	}
	return &usageError{err, help}
}

// oneDash is the argument that has the name of a long flag after a single dash; "": there is
// none. kong reads it as several short flags, and its error names the first unknown one.
func oneDash(command *kong.Node, args []string, flag string) string {
	for _, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && len(name) > 1 && hasFlag(command, name) && strings.Contains(name, strings.TrimLeft(flag, "-")) {
			return a
		}
	}
	return ""
}

// meantWord is a hint for a word too many; "": none is known.
func meantWord(command *kong.Node, word string, args []string) string {
	path := command.Path()
	_, err := experiment.ParseDuration(word)
	duration := err == nil
	switch {
	case meantCommand(command, word) != "":
		return "tare " + meantCommand(command, word)
	case strings.HasPrefix(path, "presets") && path != "presets show":
		return "tare presets show " + cmp.Or(hint.Nearest(word, experiment.Presets()), word)
	case path == "check":
		return "tare check DIR --max-cost " + limitIn(word)
	case path == "report":
		return "tare compare BEFORE AFTER compares two results"
	case path == "calibrate" && duration, path == "run" && duration, path == "plan" && duration, path == "advise" && duration:
		return "--budget " + word
	case hasFlag(command, "set") && strings.Contains(word, "="):
		return "--set " + word
	case path == "run" || path == "plan" || path == "advise":
		return "tare " + path + " takes one experiment: a preset or a file"
	case path == "doctor":
		return "--scratch " + word
	case path == "image" && word == "build":
		return "docker build makes images (docs/container.md has a Dockerfile), tare image load FILE gives them to an engine"
	}
	return ""
}

// limitIn is the word if it is a limit, else an example of a limit.
func limitIn(word string) string {
	if strings.Contains(word, "=") {
		return word
	}
	return "throughput=5%"
}

// Errors of kong: a value that is no number, a negative value (which kong takes for a flag), a
// missing value, an unknown flag, and a word too many.
var (
	noNumber    = regexp.MustCompile(`^(--[a-z-]+): expected a valid [0-9]+ bit u?int but got ("[^"]*")`)
	belowZero   = regexp.MustCompile(`^(--[a-z-]+): expected .* value but got "(-[0-9][^"]*)"`)
	noValue     = regexp.MustCompile(`^(--[a-z-]+): (?:expected .* value but got "EOL"|missing value)`)
	unknownFlag = regexp.MustCompile(`^unknown flag (-[^\s,]+)`)
	unexpected  = regexp.MustCompile(`^unexpected argument (\S+)`)
)

// printsAs says whether --format of a command has a value.
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

// meantCommand is the subcommand that a word may mean; "": none.
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

// otherWords are subcommands of other tools, with tare's.
var otherWords = map[string]string{
	"purge": "prune", "clean": "prune", "clear": "prune", "rm": "prune", "remove": "prune", "delete": "prune",
	"ls": "list", "import": "load", "cat": "show", "print": "show",
}

// otherCommands are commands of other tools, with tare's.
var otherCommands = map[string]string{
	"bench": "tare run", "benchmark": "tare run", "start": "tare run", "measure": "tare run", "test": "tare run", "exec": "tare run --command CMD",
	"dry-run": "tare plan", "ls": "tare list, or tare presets", "show": "tare report", "view": "tare report", "open": "tare report --open",
	"serve": "tare report --open", "html": "tare report --format html > report.html", "export": "tare report --format json", "diff": "tare compare BEFORE AFTER",
	"self-test": "tare calibrate", "selftest": "tare calibrate", "info": "tare doctor", "status": "tare doctor", "env": "tare config", "variables": "tare config",
	"clean": "tare cleanup", "prune": "tare cache prune", "gc": "tare cache prune", "resume": "tare run --continue DIR", "continue": "tare run --continue DIR",
	"load": "tare image load image.tar --into docker", "completions": "tare completion bash", "settings": "tare config", "rbac": "tare plan --rbac",
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
