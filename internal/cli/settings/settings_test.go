package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

var words = Vocabulary{
	"": {"color"}, "run": {"color", "budget", "max-cost", "output"}, "plan": {"color", "budget"},
	"cache": {"color"}, "cache list": {"color"}, "cache prune": {"color", "unused"},
}

// written is a configuration file with this text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEnvironment(t *testing.T) {
	environ := []string{"TARE_MAX_COST=a=5%", "TARE_BUDGET=3m", "TARE_COLOR=", "TARE_BUGDET=1m", "TARE_RUN_DIR=/x", "PATH=/bin"}
	got, unused := Environment(words, environ, "TARE_RUN_DIR")
	want := []Value{
		{Flag: "budget", Texts: []string{"3m"}, From: "TARE_BUDGET"},
		{Flag: "max-cost", Texts: []string{"a=5%"}, From: "TARE_MAX_COST"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"TARE_BUGDET"}, unused); d != "" {
		t.Error(d)
	}
}

func TestFile(t *testing.T) {
	path := written(t, `# mine
color: never
cache:
  prune: {unused: 720h}
run:
  budget: 10m
  max-cost: [throughput=5%, p99=10%]
budget: 5m
`)
	got, there, err := File(words, path)
	if err != nil || !there {
		t.Fatal(there, err)
	}
	want := []Value{
		{"cache prune", "unused", []string{"720h"}, path + ":4"},
		{"run", "budget", []string{"10m"}, path + ":6"},
		{"run", "max-cost", []string{"throughput=5%", "p99=10%"}, path + ":7"},
		{"", "color", []string{"never"}, path + ":2"},
		{"", "budget", []string{"5m"}, path + ":8"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ command, flag, want string }{
		{"run", "budget", "10m"}, {"plan", "budget", "10m"}, {"check", "budget", "5m"}, {"cache prune", "unused", "720h"},
		{"cache prune", "color", "never"}, {"cache list", "unused", ""},
	} {
		v, _ := Find(got, c.command, c.flag)
		if text := strings.Join(v.Texts, ","); text != c.want {
			t.Errorf("tare %s --%s: %q, want %q", c.command, c.flag, text, c.want)
		}
	}
}

// What comes first replaces what comes later for the same commands, and no more.
func TestInForce(t *testing.T) {
	env := Value{Flag: "color", From: "TARE_COLOR"}
	own := Value{Command: "run", Flag: "budget", From: "own:2"}
	all := []Value{
		env, own, {Flag: "budget", From: "own:1"},
		{Command: "run", Flag: "color", From: "etc:1"}, {Command: "run", Flag: "budget", From: "etc:2"},
	}
	if d := cmp.Diff(all[:3], InForce(all)); d != "" {
		t.Error(d)
	}
}

func TestFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"color: never\nbugdet: 3m\n":    `:2: no flag --bugdet; did you mean "budget"?`,
		"run:\n  unused: 720h\n":        ":2: no flag --unused of tare run",
		"rnu:\n  budget: 3m\n":          `:1: no command "rnu"; did you mean "run"?`,
		"cache:\n  prnue: {color: x}\n": `:2: no command "cache prnue"; did you mean "prune"?`,
		"budget: 3m\nbudget: 4m\n":      `:2: "budget" is there twice`,
		"budget:\n":                     ":1: --budget has no value",
		"budget: []\n":                  ":1: --budget has no value",
		"max-cost: [[a]]\n":             ":1: --max-cost has no value",
		"- budget\n":                    ":1: want names of flags with values",
		"color: x\n\na: b: c\n":         ": line 3: mapping values are not allowed",
	} {
		path := written(t, text)
		_, there, err := File(words, path)
		if err == nil || !there || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if hint.Of(err) == "" {
			t.Errorf("%q: no remedy", text)
		}
	}
	if values, there, err := File(words, "/nonexistent/config.yaml"); values != nil || there || err != nil {
		t.Error(values, there, err)
	}
	for _, empty := range []string{"", "# nothing\n"} {
		if values, there, err := File(words, written(t, empty)); values != nil || !there || err != nil {
			t.Error(values, there, err)
		}
	}
	long := written(t, strings.Repeat("# long\n", largest))
	if _, _, err := File(words, long); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// A file that somebody else could have written is not taken, wherever a link leads.
func TestFileOfOthers(t *testing.T) {
	path := written(t, "budget: 3m\n")
	link := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if values, _, err := File(words, link); err != nil || len(values) != 1 {
		t.Errorf("a link: %v, %v", values, err)
	}
	refused := func(what, path string) {
		t.Helper()
		values, _, err := File(words, path)
		said := err != nil && strings.Contains(err.Error(), "is not taken") && strings.Contains(hint.Of(err), "chmod go-w "+path)
		if values != nil || !said {
			t.Errorf("%s: %v, %v (%s)", what, values, err, hint.Of(err))
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("a file for all", path)
	refused("a link to it", link)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	refused("in a directory for all", path)
	refused("a link into it", link)
	testneed.Root(t)
	const somebody = 12345
	other := written(t, "budget: 3m\n")
	if err := os.Chown(other, somebody, somebody); err != nil {
		t.Fatal(err)
	}
	refused("of another user", other)
}

// A file that is there and cannot be opened is an error that says how to go on without it.
func TestFileUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, there, err := File(words, dir); err == nil || !there || !strings.HasPrefix(hint.Of(err), "leave it out: ") {
		t.Errorf("a directory: %v, %v (%s)", there, err, hint.Of(err))
	}
	blocked := filepath.Join(written(t, ""), "config.yaml")
	if _, there, err := File(words, blocked); err == nil || !there || !strings.HasPrefix(hint.Of(err), "leave it out: ") {
		t.Errorf("below a file: %v, %v (%s)", there, err, hint.Of(err))
	}
}

func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"budget: 3m\n", "run: {max-cost: [a, b]}\n", "a: &x [1]\nb: *x\n", "? {a: b}\n: c\n", "run: &r {run: *r}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := parse(words, "f", []byte(text))
		for _, v := range values {
			if err == nil && (len(v.Texts) == 0 || v.Texts[0] == "") {
				t.Errorf("%q: a value without text", text)
			}
		}
	})
}
