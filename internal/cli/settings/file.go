package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/trust"
)

// largest is the size in bytes of the largest configuration file.
const largest = 64 << 10

// File reads a configuration file: names of flags with values, and sections with the names of commands. The
// values of sections come first, those of the longest path before others. A file that is not there is no
// error: there is false then. A file that others could have written is one.
func File(v Vocabulary, path string) (values []Value, there bool, err error) {
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, true, err
	}
	values, err = parse(v, path, text)
	return values, true, err
}

// read reads a file that nobody but this user and root can write, wherever links lead to.
func read(path string) ([]byte, error) {
	f, err := trust.OpenGiven(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, hint.New(fmt.Errorf("configuration file %s is not taken: %w", path, err), without)
	}
	defer f.Close()
	if err := cmp.Or(trust.File(f), trust.Dir(path)); err != nil {
		return nil, hint.New(fmt.Errorf("configuration file %s is not taken: %w", path, err), remedy(path))
	}
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(text) > largest {
		err = fmt.Errorf("%s has more than %d bytes", path, largest)
	}
	return text, err
}

// quotedText matches the text of the file in an error of the parser, which may be a password. The first process of an arm starts
// before this package is initialised, so it is no variable.
func quotedText() *regexp.Regexp { return regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`") }

func parse(v Vocabulary, path string, text []byte) ([]Value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, hint.New(fmt.Errorf("%s: %s", path, quotedText().ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "…")), form)
	}
	if len(doc.Content) == 0 { // empty, or comments alone
		return nil, nil
	}
	p := parser{words: v, path: path}
	if err := p.section(doc.Content[0], ""); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.values, func(a, b Value) int { return depth(b.Command) - depth(a.Command) })
	return p.values, nil
}

// depth is the number of words in a command.
func depth(command string) int { return len(strings.Fields(command)) }

// parser collects the values of a file.
type parser struct {
	words  Vocabulary
	path   string
	values []Value
}

// wrong is an error with its place.
func (p *parser) wrong(n *yaml.Node, remedy, format string, args ...any) error {
	return hint.New(fmt.Errorf("%s:%d: %s", p.path, n.Line, fmt.Sprintf(format, args...)), remedy)
}

// section reads the values for a command and those below it.
func (p *parser) section(n *yaml.Node, command string) error {
	if n.Kind != yaml.MappingNode {
		return p.wrong(n, form, noPairs)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if seen[key.Value] {
			return p.wrong(key, form, twice, key.Value)
		}
		seen[key.Value] = true
		if err := p.pair(key, value, command); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) pair(key, value *yaml.Node, command string) error {
	name := strings.TrimSpace(command + " " + key.Value)
	commands, flags := p.words.below(command), p.words.flags(command)
	if value.Kind == yaml.MappingNode {
		if !slices.Contains(commands, key.Value) {
			return p.wrong(key, help(command), "no command %q%s", name, hint.DidYouMean(key.Value, commands))
		}
		return p.section(value, name)
	}
	if !slices.Contains(flags, key.Value) {
		of := ""
		if command != "" {
			of = " of tare " + command
		}
		return p.wrong(key, help(command), "no flag --%s%s%s", key.Value, of, nearest(key.Value, flags))
	}
	texts, err := p.texts(key.Value, value)
	if err == nil {
		from := fmt.Sprintf("%s:%d", p.path, key.Line)
		p.values = append(p.values, Value{Command: command, Flag: key.Value, Texts: texts, From: from})
	}
	return err
}

// nearest is hint.DidYouMean without the list of all flags, which is long.
func nearest(word string, flags []string) string {
	if near := hint.Nearest(word, flags); near != "" {
		return fmt.Sprintf(didYouMean, near)
	}
	return ""
}

// texts are the values of a flag, a scalar or a list of scalars.
func (p *parser) texts(flag string, n *yaml.Node) (all []string, err error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || item.Value == "" {
			return nil, p.wrong(item, form, noValue, flag)
		}
		all = append(all, item.Value)
	}
	if len(all) == 0 {
		return nil, p.wrong(n, form, noValue, flag)
	}
	return all, nil
}

// Paths are the configuration files, the one that counts first: the user's, below dir, and the system's. dir
// is empty where the user has no directory.
func Paths(dir, system string) (all []string) {
	if dir != "" {
		all = append(all, filepath.Join(dir, "tare", "config.yaml"))
	}
	return append(all, system)
}
