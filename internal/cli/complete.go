package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/report/export"
)

// completion is an answer to a shell.
type completion struct {
	values      []candidate
	nospace     bool // no space after a candidate
	files, dirs bool // the shell adds names of files, or of directories
}

// candidate is a word that may stand there.
type candidate struct{ value, about string }

// plainly are candidates without an explanation.
func plainly(values ...string) completion {
	var a completion
	for _, v := range values {
		a.values = append(a.values, candidate{value: v})
	}
	return a
}

// beginning leaves out the candidates that do not begin as the word.
func (a completion) beginning(word string) completion {
	other := func(c candidate) bool { return !strings.HasPrefix(c.value, word) }
	a.values = slices.DeleteFunc(slices.Clone(a.values), other)
	return a
}

// behind puts a text before all candidates.
func (a completion) behind(text string) completion {
	a.values = slices.Clone(a.values)
	for i := range a.values {
		a.values[i].value = text + a.values[i].value
	}
	return a
}

// lines formats the answer, without the first skipped bytes of each candidate.
func (a completion) lines(skipped int) (out []string) {
	for _, c := range a.values {
		if value := export.Clean(c.value); len(value) >= skipped {
			out = append(out, value[skipped:]+"\t"+export.Clean(c.about))
		}
	}
	switch {
	case a.nospace && len(a.values) > 0:
		out = append(out, ":nospace")
	case a.files:
		out = append(out, ":files")
	case a.dirs:
		out = append(out, ":dirs")
	}
	return out
}

// Directives of cobra for the shell (ShellCompDirective).
const (
	cobraDefault  = 0
	cobraNoSpace  = 2
	cobraNoFiles  = 4
	cobraOnlyDirs = 16
)

// forCobra formats the answer as a program of cobra's does: the last line is the directive, a number.
func (a completion) forCobra() (out []string) {
	for _, c := range a.values {
		line := export.Clean(c.value)
		if c.about != "" {
			line += "\t" + export.Clean(c.about)
		}
		out = append(out, line)
	}
	directive := cobraNoFiles
	switch {
	case a.files:
		directive = cobraDefault
	case a.dirs && len(a.values) == 0: // with values cobra takes the first one for a directory
		directive = cobraOnlyDirs
	}
	if a.nospace {
		directive |= cobraNoSpace
	}
	return append(out, fmt.Sprintf(":%d", directive))
}

// completer knows the words before the one that is completed.
type completer struct {
	root, node *kong.Node
	word       string              // to complete
	args       []string            // the words that are no flags and no commands
	flags      map[string][]string // values by flag
	waiting    *kong.Flag          // the word is the value of this flag
	plain      bool                // after "--": no flags
	helping    bool                // after "help": commands alone
	given      given
}

func newCompleter(words []string) (*completer, error) {
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		return nil, err
	}
	root := parser.Model.Node
	k := &completer{root: root, node: root, word: words[len(words)-1], flags: map[string][]string{}}
	k.given.read(parser.Model, nil, os.Environ())
	words = words[:len(words)-1]
	if len(words) > 0 && words[0] == "help" {
		k.helping, words = true, words[1:]
	}
	// zsh has an empty word where there is none.
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	for len(words) > 0 {
		words = words[k.take(words):]
	}
	return k, nil
}

// take takes the next word, or a flag with its value, and returns how many words these are.
func (k *completer) take(words []string) int {
	w := words[0]
	if k.plain || !strings.HasPrefix(w, "-") || w == "-" {
		k.takeWord(w)
		return 1
	}
	if w == "--" {
		k.plain = true
		return 1
	}
	name, value, valued := strings.Cut(strings.TrimLeft(w, "-"), "=")
	f := k.flag(name, strings.HasPrefix(w, "--"))
	switch {
	case f == nil:
		return 1
	case valued || f.IsBool():
		k.flags[f.Name] = append(k.flags[f.Name], value)
		return 1
	case len(words) == 1:
		k.waiting = f
		return 1
	}
	k.flags[f.Name] = append(k.flags[f.Name], words[1])
	return 2
}

func (k *completer) takeWord(w string) {
	i := slices.IndexFunc(k.node.Children, func(n *kong.Node) bool { return n.Name == w })
	if i >= 0 && len(k.args) == 0 {
		k.node = k.node.Children[i]
		return
	}
	k.args = append(k.args, w)
}

// flag finds a flag of the command by its long or short name.
func (k *completer) flag(name string, long bool) *kong.Flag {
	for _, f := range k.allFlags() {
		if long && (f.Name == name || slices.Contains(f.Aliases, name)) || !long && f.Short != 0 && name == string(f.Short) {
			return f
		}
	}
	return nil
}

func (k *completer) allFlags() (all []*kong.Flag) {
	for _, group := range k.node.AllFlags(false) {
		all = append(all, group...)
	}
	return all
}

// value is the value of a flag in the line, or else in the environment or a configuration file.
func (k *completer) value(flag string) string {
	if given := k.flags[flag]; len(given) > 0 {
		return given[len(given)-1]
	}
	if v, ok := settings.Find(k.given.values, k.node.Path(), flag); ok {
		return v.Texts[0]
	}
	return ""
}

// answer finds the candidates for the word.
func (k *completer) answer() completion {
	if k.waiting != nil {
		return k.ofFlag(k.waiting, k.word)
	}
	if !k.plain && !k.helping && strings.HasPrefix(k.word, "-") {
		if name, value, valued := strings.Cut(k.word, "="); valued && strings.HasPrefix(name, "--") {
			if f := k.flag(name[2:], true); f != nil {
				return k.ofFlag(f, value).behind(name + "=")
			}
			return completion{}
		}
		return k.flagNames().beginning(k.word)
	}
	if commands := k.commands().beginning(k.word); len(k.node.Children) > 0 && len(k.args) == 0 {
		return commands
	}
	return k.ofArgument()
}

// commands are those below the present one.
func (k *completer) commands() (a completion) {
	for _, n := range k.node.Children {
		if !n.Hidden {
			a.values = append(a.values, candidate{n.Name, n.Help})
		}
	}
	if k.node == k.root && k.helping {
		a.values = append(a.values, candidate{kubernetesGroup, "Flags for pods and nodes."})
	} else if k.node == k.root {
		a.values = append(a.values, candidate{"help", "Explain a command."})
	}
	return a
}

// flagNames are the flags that may follow: without those that are there, unless they may be repeated.
func (k *completer) flagNames() (a completion) {
	for _, f := range k.allFlags() {
		if !inHelp(f) || len(k.flags[f.Name]) > 0 && !f.IsCumulative() {
			continue
		}
		a.values = append(a.values, candidate{"--" + f.Name, firstSentence(f.Help)})
	}
	return a
}

// inHelp says whether help has a flag: of its command, or of pods and nodes.
func inHelp(f *kong.Flag) bool {
	return f.Help != "" && (!f.Hidden || f.Group != nil && f.Group.Key == kubernetesGroup)
}

// firstSentence is a help up to the end of its first sentence.
func firstSentence(help string) string {
	for i := range help {
		if (help[i] == '.' || help[i] == ';') && (i+1 == len(help) || help[i+1] == ' ') {
			return help[:i]
		}
	}
	return help
}
