package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/report/export"
)

// configPath is the path of the command.
const configPath = "config"

type configCommand struct {
	Format planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
}

func (configCommand) Help() string {
	return `A flag on the command line comes first, then the environment (TARE_BUDGET for --budget), then the user's configuration file, then /etc/tare/config.yaml. The user's file is tare/config.yaml in $XDG_CONFIG_HOME, or in ~/.config. A file is taken only if nobody but its user and root can write it. A value that has no effect with the flags of the command line gives way to them. --all is for the command line alone.

A configuration file has a flag in each line, and sections for single commands:

  color: never
  run:
    budget: 10m
    max-cost: [throughput=5%, p99=10%]

Examples:

  tare config
  TARE_BUDGET=10m tare config
  tare config --format json`
}

func (configCommand) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

// configSchema is the schema of tare config's output.
const configSchema = "tare/config/v1"

// configAnswer is what --format json prints.
type configAnswer struct {
	Schema string        `json:"schema"`
	Files  []configFile  `json:"files"`            // the first one counts
	Values []configValue `json:"values"`           // what is set outside of the command line
	Unused []string      `json:"unused_variables"` // variables that begin with TARE_ and belong to no flag
}

// configFile is a configuration file.
type configFile struct {
	Path  string `json:"path"`  // where it is looked for
	Taken bool   `json:"taken"` // whether its values are in force
	// Reason says why the file is not taken.
	Reason string `json:"reason,omitempty"`
}

// configValue is a value in force.
type configValue struct {
	Command string   `json:"command,omitempty"` // the command that it is for; empty: every command with the flag
	Flag    string   `json:"flag"`              // its name without dashes
	Texts   []string `json:"value"`             // as on the command line; several of a list
	From    string   `json:"from"`              // the variable, or FILE:LINE
}

func (k configCommand) Run(c *console, ctx *kong.Context) error {
	a := c.given.answer()
	var err error
	if k.Format == "json" {
		err = export.Object(c.stdout, a)
	} else {
		err = c.printConfig(a)
	}
	return cmp.Or(err, c.given.wrong(ctx.Model.Node))
}

// answer is what is set outside of the command line.
func (g *given) answer() configAnswer {
	a := configAnswer{Schema: configSchema, Files: []configFile{}, Values: []configValue{}, Unused: append([]string{}, g.unused...)}
	for _, f := range g.files {
		x := configFile{Path: f.path, Taken: f.there && f.err == nil, Reason: noSuchFile()}
		if x.Taken {
			x.Reason = ""
		} else if f.err != nil {
			x.Reason = withoutPasswords(f.err.Error())
		}
		a.Files = append(a.Files, x)
	}
	for _, v := range settings.InForce(g.values) {
		v.Texts = presentable(v.Flag, v.Texts)
		a.Values = append(a.Values, configValue(v))
	}
	return a
}

// noSuchFile is the reason why a file is not taken that is not there, for programs.
func noSuchFile() string { return messages.In(messages.English).Text("config.missing") }

func (c *console) printConfig(a configAnswer) error {
	p := newSheet(c)
	if len(a.Values) > 0 {
		p.heading(c.text("config.values"))
	} else {
		p.heading(c.text("config.none"))
	}
	rows := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
	for _, v := range a.Values {
		fmt.Fprintln(rows, formatted("  %s\t%s\t%s", v.name(), strings.Join(v.Texts, ", "), v.From))
	}
	rows.Flush() // a sheet takes everything
	p.heading(c.text("config.files"))
	for _, f := range a.Files {
		text := cmp.Or(f.Reason, c.text("config.taken"))
		if text == noSuchFile() {
			text = c.text("config.missing")
		}
		if !strings.Contains(text, f.Path) {
			text = c.text("join.colon", "subject", f.Path, "what", text)
		}
		p.entry("  ", 2, text)
	}
	if len(a.Unused) > 0 {
		p.heading(c.text("config.unused"))
		p.entry("  ", 2, strings.Join(a.Unused, ", "))
	}
	return p.flush()
}

// name is the flag with its command: "--budget", "tare run --output".
func (v configValue) name() string {
	if v.Command == "" {
		return "--" + v.Flag
	}
	return "tare " + v.Command + " --" + v.Flag
}

// wrong is the error of a file that is not taken, or of the first value that no command with the flag accepts.
func (g *given) wrong(root *kong.Node) error {
	if g.err != nil {
		return &usageError{g.err, ""}
	}
	for _, v := range g.values {
		var errs []error
		flags := flagsFor(root, v)
		for _, f := range flags {
			if err := accepts(f, valueFor(f, v.Texts)); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 && len(errs) == len(flags) {
			return &usageError{&placedError{v.From, errs[0]}, hint.Of(errs[0])}
		}
	}
	return nil
}

// flagsFor are the flags of all commands that a value is for.
func flagsFor(n *kong.Node, v settings.Value) (all []*kong.Flag) {
	if _, ok := settings.Find([]settings.Value{v}, n.Path(), v.Flag); ok {
		for _, group := range n.AllFlags(false) {
			all = append(all, slices.DeleteFunc(slices.Clone(group), func(f *kong.Flag) bool { return f.Name != v.Flag })...)
		}
	}
	for _, child := range n.Children {
		all = append(all, flagsFor(child, v)...)
	}
	return all
}
