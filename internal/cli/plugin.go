package cli

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Names of the program for users: kubectl runs it as a plugin if its file is called kubectl-tare.
const (
	ownName    = "tare"
	pluginName = "kubectl tare"
	pluginFile = "kubectl-tare"
)

// kubectl runs completionFile with the words of a plugin's command line to complete the last one. It is a shell to
// CompleteCommand, by the name of kubectlShell.
const (
	completionFile = "kubectl_complete-tare"
	kubectlShell   = "kubectl"
)

// Arguments are the arguments of the program that was started as file.
func Arguments(file string, args []string) []string {
	if filepath.Base(file) == completionFile {
		return append([]string{CompleteCommand, kubectlShell}, args...)
	}
	return args
}

// nameOf is the name of the program that was started as file.
func nameOf(file string) string {
	if filepath.Base(file) == pluginFile {
		return pluginName
	}
	return ownName
}

// kubectlFlags are flags that kubectl has for all its commands, as people type them before the name of one.
var kubectlFlags = map[string]string{
	"-n": "--namespace", "--namespace": "--namespace", "--context": "--context", "--kubeconfig": "--kubeconfig", "-l": "--selector", "--selector": "--selector",
}

// ownShortN are commands with a flag -n of their own.
var ownShortN = []string{"cache", "cleanup"}

// kubectlArgs are the arguments of the plugin with kubectl's flags as tare has them, behind the command.
func kubectlArgs(args []string) []string {
	var moved, rest []string
	command := ""
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		name, value, given := kubectlFlag(args[i])
		long := kubectlFlags[name]
		if long == "" || command != "" && (name != "-n" || slices.Contains(ownShortN, command)) || !given && i+1 == len(args) {
			if command == "" && !strings.HasPrefix(args[i], "-") {
				command = args[i]
			}
			rest = append(rest, args[i])
			continue
		}
		if !given {
			i++
			value = args[i]
		}
		if command != "" {
			rest = append(rest, long+"="+value)
		} else {
			moved = append(moved, long+"="+value)
		}
	}
	at := slices.Index(rest, command) + 1
	if command == "" {
		return args
	}
	return slices.Insert(rest, at, moved...)
}

// kubectlFlag splits -nVALUE, -n=VALUE and --namespace=VALUE.
func kubectlFlag(arg string) (name, value string, given bool) {
	if !strings.HasPrefix(arg, "--") && strings.HasPrefix(arg, "-") && len(arg) > 2 && kubectlFlags[arg[:2]] != "" {
		return arg[:2], strings.TrimPrefix(arg[2:], "="), true
	}
	return strings.Cut(arg, "=")
}

// renamed makes command lines of tare in a text those of the plugin.
type renamed struct{ lines *regexp.Regexp }

// renaming returns what a program called name does with texts. A command line is the word tare, not as a part of
// a path, before a command, a flag or an end of the line.
func renaming(name string, commands []*kong.Node) renamed {
	if name == ownName {
		return renamed{}
	}
	words := []string{"help", "-", "<command>"}
	for _, c := range commands {
		words = append(words, regexp.QuoteMeta(c.Name)+`\b`)
	}
	return renamed{regexp.MustCompile(`(^|[^\w/.-])tare (` + strings.Join(words, "|") + `)`)}
}

func (r renamed) text(s string) string {
	if r.lines == nil {
		return s
	}
	return r.lines.ReplaceAllString(s, "${1}"+pluginName+" $2")
}

// writer renames in what is written to w. kong writes whole lines.
func (r renamed) writer(w io.Writer) io.Writer {
	if r.lines == nil {
		return w
	}
	return renamingWriter{w, r}
}

type renamingWriter struct {
	io.Writer
	renamed
}

func (w renamingWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, w.text(string(b)))
	return len(b), err
}
