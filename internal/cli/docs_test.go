package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// The README and docs/ are correct: every command exists, with its flags and experiments, and every
// experiment is accepted.

// pages are the pages of docs/ and of the top directory in all languages, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d pages: %v", len(names), err)
	}
	chinese, err := filepath.Glob("../../" + chineseDocs + "*.md")
	if err != nil || len(chinese) < 5 {
		t.Fatalf("%d pages in Chinese: %v", len(chinese), err)
	}
	all := map[string]string{}
	for _, name := range append(append(names, chinese...), "../../README.md", "../../README.zh-CN.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(name, "../../")] = string(b)
	}
	return all
}

// Lines that look like commands: the first line of a report, and placeholders.
var (
	heading = regexp.MustCompile(`^\w+( on \w+)?( \(\d+ CPUs?\))?, \d{4}-`)
	choice  = regexp.MustCompile(`(\w)(\|\w+)+`)
)

var (
	fence   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	span    = regexp.MustCompile("`(tare [^`]+)`")
	follows = regexp.MustCompile(`\s{2,}[^\s-].*$|\s+#.*$`)
	// shell matches the end of tare's arguments in a line of a shell.
	shell  = regexp.MustCompile(`\s(\||>|>>|\|\||2>|&&|;)(\s.*|$)`)
	option = regexp.MustCompile(`\s\[[^\]]+\]`)
)

// commands are the command lines of a page, without "tare" itself.
func commands(page string) (all [][]string) {
	page = strings.ReplaceAll(page, "\\\n", " ")
	var lines []string
	for _, l := range strings.Split(page, "\n") {
		l, indented := strings.CutPrefix(l, "    ")
		if !indented && !strings.HasPrefix(l, "$ ") { // a line of a shell script in a fence has no indent of its own
			continue
		}
		l = strings.TrimPrefix(strings.TrimLeft(l, " "), "- ")
		for _, lead := range []string{"run: ", "sudo ", "$ ", "CEPH_CONF=/etc/ceph/ceph.conf "} {
			l = strings.TrimPrefix(l, lead)
		}
		for _, name := range []string{"go run ./cmd/tare ", "tare ", "bin/tare ", "/tmp/tare/bin/tare "} {
			if rest, ok := strings.CutPrefix(l, name); ok {
				lines = append(lines, follows.ReplaceAllString(rest, ""))
			}
		}
		if _, rest, ok := strings.Cut(l, "| tare "); ok {
			lines = append(lines, rest)
		}
	}
	for _, m := range span.FindAllStringSubmatch(strings.ReplaceAll(page, "\n", " "), -1) {
		lines = append(lines, strings.TrimPrefix(m[1], "tare "))
	}
	for _, l := range lines {
		if heading.MatchString(l) {
			continue
		}
		l = option.ReplaceAllString(shell.ReplaceAllString(l, ""), "")
		l = choice.ReplaceAllString(strings.ReplaceAll(l, "$LIMITS", "--max-cost throughput=5%"), "$1")
		if words := split(l); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// split splits a line of a shell at blanks; it knows quotes, nothing else.
func split(line string) (words []string) {
	word, quote, begun := "", rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	return words
}

// Placeholders in documented commands, with a value for each.
var own = map[string]bool{"FILE": true, "DIR": true, "mine.yaml": true, "PRESET": true}

func TestDocumentedCommands(t *testing.T) {
	seen := 0
	for name, page := range pages(t) {
		found := commands(page)
		if strings.Contains(page, "    tare run") && len(found) == 0 {
			t.Errorf("%s: no command was found", name)
		}
		for _, words := range found {
			seen++
			if err := understood(t, words); err != nil {
				t.Errorf("%s: tare %s: %v", name, strings.Join(words, " "), err)
			}
		}
	}
	t.Logf("%d commands", seen)
	if seen < 80 {
		t.Errorf("only %d commands were found", seen)
	}
}

// understood checks a command line without running it.
func understood(t *testing.T, words []string) (err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(helpExit); !ok { // --help ends here
				panic(r)
			}
		}
	}()
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(words); err != nil {
		if len(words) == 1 && strings.Contains(err.Error(), "expected") {
			return nil // the name of a command in a sentence
		}
		return err
	}
	f := g.Run.experimentFlags
	if words[0] == "plan" {
		f = g.Plan.experimentFlags
	}
	if words[0] != "run" && words[0] != "plan" || own[f.Experiment] {
		return nil
	}
	if own[f.Dump] || own[f.Old] || own[f.New] || own[f.Password] || len(f.Like) > 0 && own[f.Like[0]] {
		return nil
	}
	if len(f.Like) > 0 && strings.HasPrefix(f.Like[0], "/etc/") {
		if _, err := os.Stat(f.Like[0]); err != nil {
			return nil // of a package that is not installed here
		}
	}
	if strings.HasPrefix(f.Experiment, "docs/") {
		f.Experiment = "../../" + f.Experiment
	}
	_, _, err = f.load()
	return err
}

func TestDocumentedExperiments(t *testing.T) {
	seen, blocks := 0, 0
	for name, page := range pages(t) {
		blocks += strings.Count(page, "```yaml\n")
		for _, m := range fence.FindAllStringSubmatch(page, -1) {
			if m[1] != "yaml" {
				continue
			}
			seen++
			if strings.Contains(m[2], "\njobs:") { // of a CI
				continue
			}
			text := m[2]
			if !strings.Contains("\n"+text, "\nworkloads:") { // a part of one
				text += "workloads: {w: {kind: rpc}}\n"
			}
			e, err := experiment.Parse(name, []byte(text), catalog.Words())
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
				continue
			}
			// Arms that this host cannot have are left out; unknown words are errors.
			var params *plan.ParamsError
			if _, err := plan.Build(e, catalog.Plan(nil), facts.Host{}, nil); errors.As(err, &params) {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
		}
	}
	t.Logf("%d experiments", seen)
	if seen < 5 || seen != blocks {
		t.Errorf("%d experiments were found in %d blocks of YAML", seen, blocks)
	}
}

// Mistakes in documented commands are found.
func TestDocumentedIsChecked(t *testing.T) {
	page := "text `tare run quik` text\n\n    tare run --bugdet 3m     # longer\n    kubectl logs x | tare import a=b.log\n" +
		"    $ tare plan --set 'rpc.concurency=8 9' | less\n    tare cache [prune]    the data\n"
	want := [][]string{{"run", "--bugdet", "3m"}, {"import", "a=b.log"}, {"plan", "--set", "rpc.concurency=8 9"}, {"cache"}, {"run", "quik"}}
	got := commands(page)
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Fatalf("found %q", got)
	}
	for i, wrong := range []bool{true, false, true, false, true} {
		if err := understood(t, got[i]); (err != nil) != wrong {
			t.Errorf("%q: %v", got[i], err)
		}
	}
}

// docs/safety.md names every kind of step.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range catalog.Steps() {
		if !bytes.Contains(page, []byte("`"+kind.Name+"`")) {
			t.Errorf("docs/safety.md has no kind %q", kind.Name)
		}
	}
}
