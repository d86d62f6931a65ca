package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// nodeAboutFlag is a flag that only a node helper gives.
const nodeAboutFlag = "node-about"

// systemSettings is the configuration file for all users of this host.
const systemSettings = "/etc/tare/config.yaml"

// settingsFile is a configuration file, and whether it was taken.
type settingsFile struct {
	path  string
	there bool
	err   error
}

// given are the values of flags outside of the command line, and those that the command uses. It is kong's
// resolver: a flag on the command line comes first.
type given struct {
	values []settings.Value // in the order of precedence: environment, the user's file, the system's
	files  []settingsFile
	unused []string // variables that begin as tare's and belong to no flag
	err    error    // of the first file that cannot be taken, or value that a command goes on without

	without map[string]bool // flags that give way to the command line
	used    []settings.Value
}

// read reads the environment and the configuration files. A run that a node helper started has neither:
// its command line is complete, and the node's settings are not the user's. Nor has tare cleanup.
func (g *given) read(model *kong.Application, args, environ []string) {
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--"+nodeAboutFlag) }) {
		return
	}
	if command := withoutLang(args); len(command) > 0 && command[0] == cleanupPath {
		return
	}
	words := vocabulary(model.Node)
	g.values, g.unused = settings.Environment(words, environ, hostlock.DirEnv)
	dir, _ := os.UserConfigDir() // a user without a home has no file
	for _, path := range settings.Paths(dir, systemSettings) {
		g.readFile(words, path)
	}
}

func (g *given) readFile(words settings.Vocabulary, path string) {
	values, there, err := settings.File(words, path)
	g.files = append(g.files, settingsFile{path, there, err})
	if err != nil {
		g.err = cmp.Or(g.err, err)
		return
	}
	g.values = append(g.values, values...)
}

// vocabulary has the flags of every command. help and the flags for tare's own use are not among them.
func vocabulary(n *kong.Node) settings.Vocabulary {
	words := settings.Vocabulary{}
	for _, group := range n.AllFlags(false) {
		for _, f := range group {
			if settable(f) {
				words[n.Path()] = append(words[n.Path()], f.Name)
			}
		}
	}
	for _, child := range n.Children {
		if !child.Hidden && child.Name != cleanupPath {
			for path, flags := range vocabulary(child) {
				words[path] = flags
			}
		}
	}
	return words
}

// settable says whether a flag can be set outside of the command line.
func settable(f *kong.Flag) bool { return f.Name != "help" && f.Help != "" }

// Validate is kong's.
func (*given) Validate(*kong.Application) error { return nil }

// Resolve finds the value of a flag that the command line does not have; nil: there is none.
func (g *given) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !settable(flag) || g.without[flag.Name] || fixed(ctx, flag) {
		return nil, nil
	}
	command := ""
	if at := ctx.Selected(); at != nil {
		command = at.Path()
	}
	if command == cleanupPath {
		return nil, nil
	}
	tolerant := slices.Contains(withoutFiles, command)
	if g.err != nil && !tolerant {
		return nil, &placedError{error: g.err}
	}
	v, ok := settings.Find(g.values, command, flag.Name)
	if !ok {
		return nil, nil
	}
	value := valueFor(flag, v.Texts)
	if err := accepts(flag, value); err != nil {
		err = &placedError{v.From, err}
		if tolerant && flag.Group != nil && flag.Group.Key == "output" { // not --dry-run
			g.err, err = cmp.Or(g.err, err), nil
		}
		return nil, err
	}
	g.used = append(g.used, v)
	return value, nil
}

// fixed says whether a run continues a result, whose experiment decides about the flag.
func fixed(ctx *kong.Context, flag *kong.Flag) bool {
	continues := func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "continue" }
	about := flag.Group != nil && slices.Contains([]string{"experiment", "database", kubernetesGroup}, flag.Group.Key)
	return about && flag.Name != "budget" && slices.ContainsFunc(ctx.Path, continues)
}

// withoutFiles are the commands that work with a broken configuration file or variable, too.
var withoutFiles = []string{configPath, "version", "completion"}

// cleanupPath is the command that takes no value from a file or variable: the way back must not depend on what
// somebody wrote there for the way out.
const cleanupPath = "cleanup"

// placedError is the error of a value outside of the command line, or of a whole file.
type placedError struct {
	from string // empty: the error names it
	error
}

func (e *placedError) Unwrap() error { return e.error }

func (e *placedError) Error() string {
	if e.from == "" {
		return e.error.Error()
	}
	return e.from + ": " + e.error.Error()
}

// valueFor is a value as kong takes it. A list whose elements cannot be separated by commas has one in each
// line of a variable.
func valueFor(f *kong.Flag, texts []string) any {
	if !f.IsSlice() || f.Tag.Sep != -1 {
		sep := f.Tag.Sep
		if sep == -1 {
			sep = ','
		}
		if len(texts) == 1 {
			return texts[0]
		}
		return kong.JoinEscaped(texts, sep)
	}
	var all []any
	for _, text := range texts {
		for line := range strings.Lines(text) {
			all = append(all, strings.TrimSuffix(line, "\n"))
		}
	}
	return all
}

// accepts returns an error unless a value from outside of the command line is one of the flag. A flag with the
// tag act changes or removes something of the user's: nobody wants that from a variable that was forgotten.
func accepts(f *kong.Flag, value any) error {
	if f.Tag.Has("act") {
		return fmt.Errorf(onlyTyped, f.Name)
	}
	scan := kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: value})
	return f.Mapper.Decode(&kong.DecodeContext{Value: f.Value, Scan: scan}, reflect.New(f.Target.Type()).Elem())
}

// parse parses the command line. A value from elsewhere that has no effect together with the flags of the
// command line gives way to them.
func (g *given) parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	for {
		g.used = nil
		ctx, err := parser.Parse(args)
		if err != nil {
			return nil, misuse(err, args)
		}
		err = checkFlags(ctx)
		if !g.giveWay(err) {
			return ctx, err
		}
	}
}

// flagNames are the flags in the name of a useless one, as in "--helper-image" and "-o".
var flagNames = regexp.MustCompile(`--([a-z][a-z-]*)|^-(o)$`)

// giveWay drops the values that an error calls useless, and says whether there were any.
func (g *given) giveWay(err error) (dropped bool) {
	if g.without == nil {
		g.without = map[string]bool{}
	}
	var none *uselessError
	if !errors.As(err, &none) {
		return false
	}
	for _, m := range flagNames.FindAllStringSubmatch(none.flag, -1) {
		name := m[1]
		if m[2] != "" {
			name = "output"
		}
		if slices.ContainsFunc(g.used, func(v settings.Value) bool { return v.Flag == name }) {
			g.without[name], dropped = true, true
		}
	}
	return dropped
}

// placed adds to the first mention of each flag in an error where its value comes from.
func (g *given) placed(text string) string {
	if g == nil {
		return text
	}
	for _, v := range g.used {
		word, done := "--"+v.Flag, ""
		for rest := text; ; {
			before, after, found := strings.Cut(rest, word)
			if !found {
				break
			}
			done += before + word
			if after == "" || !strings.ContainsAny(after[:1], "-abcdefghijklmnopqrstuvwxyz") {
				text = done + " (" + v.From + ")" + after
				break
			}
			rest = after
		}
	}
	return text
}

// noteUntaken warns of a configuration file that was not taken, where that is no error.
func (c *console) noteUntaken(command string) {
	if c.given.err == nil || command == configPath || command == cleanupPath {
		return // tare config prints it, and tare cleanup reads none
	}
	why := c.given.err.Error()
	if remedy := hint.Of(c.given.err); remedy != "" {
		c.note("config.warning.remedy", "why", why, "remedy", remedy)
	} else {
		c.note("config.warning", "why", why)
	}
}
