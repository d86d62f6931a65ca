package cli

import (
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/internal/outside/engine"
)

// grammar has the commands, and the flags of all commands.
type grammar struct {
	Run       runCommand       `cmd:"" help:"Measure an experiment."`
	Plan      planCommand      `cmd:"" help:"Show what a run would change on this host; changes nothing."`
	Doctor    doctorCommand    `cmd:"" help:"Show what this host is ready for, and its noise."`
	Presets   presetsCommand   `cmd:"" help:"List the experiments that come with tare, by question."`
	Advise    adviseCommand    `cmd:"" help:"Find what wins a loss back, and prove it on this host."`
	Report    reportCommand    `cmd:"" help:"Print the report of a result directory."`
	Check     checkCommand     `cmd:"" help:"Fail where a loss exceeds a limit, for CI."`
	Compare   compareCommand   `cmd:"" help:"Compare two results: old, new, change."`
	Import    importCommand    `cmd:"" help:"Compare logs of sysbench, fio, pgbench and others."`
	Calibrate calibrateCommand `cmd:"" help:"Self-test: measure planted losses of known size."`
	Cache     cacheCommand     `cmd:"" help:"List the prepared data sets of databases, or remove some."`
	Image     imageCommand     `cmd:"" help:"Put container images into an engine, without a registry."`
	List      listCommand      `cmd:"" help:"List the results in a directory: age, size and answer of each."`
	Cleanup   cleanupCommand   `cmd:"" help:"Remove what killed runs left on this host."`
	Config    configCommand    `cmd:"" help:"Show which flags have another default here, and where each is set."`

	Completion completionCommand `cmd:"" help:"Print the completion script of bash, zsh or fish."`
	Man        manCommand        `cmd:"" hidden:"" help:"Write the manual pages into a directory."`
	Version    versionCommand    `cmd:"" help:"Print the version."`

	Color colorMode      `group:"output" default:"auto" placeholder:"auto|always|never" help:"Colours. auto: on a terminal, unless NO_COLOR is set or TERM is dumb."`
	Lang  languageChoice `group:"output" default:"auto" placeholder:"auto|en|zh" help:"Language of help and reports. auto: that of the locale (LC_ALL, LC_MESSAGES, LANG)."`
}

const description = `Weighs the container: what a database or a disk loses in a container, on another
volume or beside a batch job, compared with the same load on the same host, with
intervals that hold on a noisy machine.

  tare run                     the preset "quick": three minutes, nothing to install
  tare run --budget 10m -o r   longer is more precise; results in the directory r
  tare presets                 MySQL, PostgreSQL, ClickHouse, volumes, neighbours
  tare import a=a.log b=b.log  compare logs of other tools
  tare doctor                  is this host ready?
  tare help kubernetes         flags for pods and nodes

TARE_NAME in the environment, or a configuration file (tare config), sets any flag --name.`

// helpExit is the exit code after kong has printed the help. kong expects that the program exits then;
// tare panics with helpExit, and Main returns it.
type helpExit int

// Main runs the command in args (without the program's name) and returns the
// exit code.
func Main(args []string, stdout, stderr *os.File) int {
	return mainAs(nameOf(os.Args[0]), args, stdout, stderr)
}

// mainAs is Main of a program that users call name.
func mainAs(name string, args []string, stdout, stderr *os.File) (code int) {
	if name == pluginName {
		args = kubectlArgs(args)
	}
	c := &console{name: name, stdout: stdout, stderr: stderr, args: args, getenv: os.Getenv}
	defer func() {
		if r := recover(); r != nil {
			h, ok := r.(helpExit)
			if !ok {
				panic(r)
			}
			code = int(h)
		}
	}()
	var g grammar
	c.given = &given{}
	columns, _ := c.size(stdout)
	help := func(o kong.HelpOptions, ctx *kong.Context) error { return helpIn(c.in, columns)(o, ctx) }
	parser, err := newParser(&g, stdout, stderr, kong.Resolvers(c.given), kong.Help(help))
	if err != nil {
		return c.fail(err)
	}
	c.given.read(parser.Model, args, os.Environ())
	c.events = valueIn(args, "--progress") == "json" // for errors about the command line
	c.speak(languageOf(args, c.given.values, os.Getenv))
	c.renamed = renaming(name, parser.Model.Children)
	parser.Stdout, parser.Stderr = c.renamed.writer(stdout), c.renamed.writer(stderr)
	if err := checkNotEmpty(args); err != nil {
		return c.fail(err)
	}
	args = asCommand(args)
	if slices.Equal(args, []string{kubernetesGroup, "--help"}) {
		return c.fail(helpKubernetes(parser, parser.Stdout, c.in, columns))
	}
	ctx, err := c.given.parse(parser, args)
	if err != nil {
		return c.fail(err)
	}
	c.color, c.events = g.Color, wantsEvents(ctx.Selected())
	c.speak(messages.Choose(string(g.Lang), c.getenv))
	if c.events {
		c.speak(messages.English) // programs read it
	}
	c.noteUntaken(ctx.Selected().Path())
	return c.fail(ctx.Run(c))
}

func newParser(g *grammar, stdout, stderr io.Writer, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(g, append(more,
		kong.Name("tare"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{
			Compact: true, FlagsLast: true, NoExpandSubcommands: true, NoAppDescFormat: true, WrapUpperBound: 100,
		}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "experiment", Title: "What to measure:"},
			{Key: "database", Title: "Your database:"},
			{Key: kubernetesGroup, Title: "Kubernetes:"},
			{Key: "limits", Title: "What to judge:"},
			{Key: "output", Title: "Output:"},
		}),
		kong.Vars{"scratch": inspect.DefaultScratch, "kube_namespace": engine.KubeNamespace,
			"forms": either(formNames()), "kinds": either(importer.Kinds())},
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(helpExit(code)) }),
	)...)
}

// asCommand accepts other spellings: "tare help run" is "tare run --help", "tare --version" is
// "tare version", and without arguments the help is printed.
func asCommand(args []string) []string {
	words := withoutLang(args)
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case len(words) > 0 && words[0] == "help":
		return append(words[1:], "--help")
	case slices.Equal(args, []string{"--version"}):
		return []string{"version"}
	}
	return args
}
