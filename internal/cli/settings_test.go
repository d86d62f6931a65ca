package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// parsed parses a command line with variables in the environment.
func parsed(t *testing.T, args []string, environ ...string) (*grammar, *given, error) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var g grammar
	from := &given{}
	parser, err := newParser(&g, io.Discard, io.Discard, kong.Resolvers(from))
	if err != nil {
		t.Fatal(err)
	}
	from.read(parser.Model, args, environ)
	_, err = from.parse(parser, args)
	return &g, from, err
}

// Every flag of every command can be set by a variable, which no other flag of another name has.
func TestEveryFlagHasAVariable(t *testing.T) {
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	words, flags := vocabulary(parser.Model.Node), 0
	for _, command := range parser.Model.Leaves(true) {
		for _, group := range command.AllFlags(true) {
			for _, f := range group {
				if flags++; f.Name != "help" && command.Path() != "cleanup" && !slices.Contains(words[command.Path()], f.Name) { // cleanup reads none
					t.Errorf("tare %s --%s cannot be set", command.Path(), f.Name)
				}
			}
		}
		if slices.Contains(words[command.Path()], nodeAboutFlag) {
			t.Errorf("tare %s: --%s can be set", command.Path(), nodeAboutFlag)
		}
	}
	if flags < 80 || words[""] == nil {
		t.Errorf("%d flags", flags)
	}
	for path := range words {
		if first, _, _ := strings.Cut(path, " "); slices.ContainsFunc(words["run"], func(f string) bool { return f == first }) {
			t.Errorf("%s is a command and a flag: a file cannot have both", first)
		}
	}
}

func TestGiven(t *testing.T) {
	g, _, err := parsed(t, []string{"run", "quick"}, "TARE_BUDGET=2m", "TARE_ARMS=host,cgroup", "TARE_UNTIL_DECIDED=yes",
		"TARE_MAX_COST=throughput=5%,p99=10%", "TARE_SET=a.b=c,d\nwindow=200ms", "TARE_COLOR=never")
	if err != nil {
		t.Fatal(err)
	}
	if g.Run.Budget != "2m" || !slices.Equal(g.Run.Arms, []string{"host", "cgroup"}) || !g.Run.UntilDecided || g.Color != "never" {
		t.Errorf("%+v", g.Run.experimentFlags)
	}
	if len(g.Run.MaxCost) != 2 || !slices.Equal(g.Run.Set, []string{"a.b=c,d", "window=200ms"}) {
		t.Errorf("%+v", g.Run.experimentFlags)
	}
	if g, _, err = parsed(t, []string{"run", "--budget", "1m"}, "TARE_BUDGET=2m"); err != nil || g.Run.Budget != "1m" {
		t.Errorf("%s, %v", g.Run.Budget, err)
	}
}

// A value gives way where it has no effect, and where a result is continued. A flag of the command line does not.
func TestGivesWay(t *testing.T) {
	for _, c := range []struct {
		args, environ []string
		wrong         string
	}{
		{[]string{"plan", "--format", "json"}, []string{"TARE_VERBOSE=1"}, ""},
		{[]string{"plan", "--verbose", "--format", "json"}, nil, "--verbose does nothing"},
		{[]string{"plan", "--verbose"}, []string{"TARE_FORMAT=json"}, "--verbose does nothing"},
		{[]string{"run", "--until-decided"}, []string{"TARE_PRECISION=1%"}, ""},
		{[]string{"run", "-q"}, []string{"TARE_PROGRESS=json"}, ""},
		{[]string{"run", "--continue", "r"}, []string{"TARE_OUTPUT=x", "TARE_ARMS=host"}, ""},
		{[]string{"run", "--continue", "r", "-o", "x"}, []string{"TARE_OUTPUT=y"}, "-o does nothing"},
	} {
		g, _, err := parsed(t, c.args, c.environ...)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q with %q: %v", c.args, c.environ, err)
		}
		if len(g.Run.Arms) > 0 || g.Run.Output != "" && c.wrong == "" {
			t.Errorf("%q with %q: %+v", c.args, c.environ, g.Run)
		}
	}
}

// What changes or removes something of the user's is on the command line, or nowhere.
func TestOnlyTyped(t *testing.T) {
	if _, _, err := parsed(t, []string{"cache", "prune"}, "TARE_ALL=1"); err == nil || !strings.Contains(err.Error(), "is for the command line alone") {
		t.Errorf("TARE_ALL=1: %v", err)
	}
	if g, _, err := parsed(t, []string{"cache", "prune", "--all"}, "TARE_ALL=1"); err != nil || !g.Cache.Prune.All {
		t.Errorf("--all: %v", err)
	}
}

// Cleaning up takes no value from the environment, wrong or right, with its flags in any order.
func TestCleanupTakesNoVariable(t *testing.T) {
	for _, args := range [][]string{{"cleanup"}, {"--color", "never", "cleanup"}, {"--lang", "en", "cleanup"}} {
		for _, variable := range []string{"TARE_DRY_RUN=true", "TARE_DRY_RUN=perhaps", "TARE_COLOR=red", "TARE_LANG=klingon", "TARE_BUDGET=x"} {
			if g, from, err := parsed(t, args, variable); err != nil || g.Cleanup.DryRun || len(from.used) > 0 {
				t.Errorf("%q with %s: %v, %+v", args, variable, err, g.Cleanup)
			}
		}
	}
	if g, _, err := parsed(t, []string{"cleanup", "-n"}, "TARE_DRY_RUN=false"); err != nil || !g.Cleanup.DryRun {
		t.Errorf("-n: %v", err)
	}
	for _, variable := range []string{"TARE_DRY_RUN=perhaps", "TARE_COLOR=red"} {
		if _, _, err := parsed(t, []string{"cache", "prune"}, variable); err == nil {
			t.Errorf("tare cache prune with %s", variable)
		}
	}
}

// A run that a node helper started takes its command line alone.
func TestHelperTakesNothing(t *testing.T) {
	g, from, err := parsed(t, []string{"run", "quick", "--node-about=/x", "-o", "r"}, "TARE_BUDGET=2m")
	if err != nil || g.Run.Budget != "" || len(from.values) > 0 {
		t.Errorf("%s, %v, %v", g.Run.Budget, from.values, err)
	}
}

func TestPlaced(t *testing.T) {
	_, from, err := parsed(t, []string{"run"}, "TARE_BUDGET=3", "TARE_ARMS=x")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"--budget: 3 has no unit":            "--budget (TARE_BUDGET): 3 has no unit",
		"--budgets and --arms, then --arms":  "--budgets and --arms (TARE_ARMS), then --arms",
		"a longer --budget":                  "a longer --budget (TARE_BUDGET)",
		"--precision: 3 is neither":          "--precision: 3 is neither",
		"--budget-x --budget-y --budget yes": "--budget-x --budget-y --budget (TARE_BUDGET) yes",
	} {
		if got := from.placed(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if (*given)(nil).placed("--budget") != "--budget" {
		t.Error("placed without settings")
	}
}
