package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const example = `
groups:
  words: [internal/report, internal/report/export]
tiers:
  - {name: lint, always: true, run: "true", takes: 1, limit: 2}
  - name: kill
    run: "echo killed"
    takes: 10
    limit: 20
    packages: echo cmd/tare
    on: [cmd/tare, internal, tools/kill.sh]
    except: {words: it judges no words}
`

func TestParse(t *testing.T) {
	if _, err := parse([]byte(example)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"no reason":     {"it judges no words", `""`, "has no reason"},
		"no limit":      {"limit: 20", "limit: 10", "limit"},
		"no command":    {`"echo killed"`, `""`, "run"},
		"twice":         {"name: lint", "name: kill", "twice"},
		"unknown field": {"takes: 10", "take: 10", "take"},
		"no folders":    {"on: [cmd/tare, internal, tools/kill.sh]", "on: []", "on:"},
	} {
		if _, err := parse([]byte(strings.Replace(example, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Which files count for a hash.
func TestHash(t *testing.T) {
	f, err := parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	tree := Tree{".ci/tiers": "a", ".ci/passed": "a", "go.mod": "a", "Makefile": "a", "docs/method.md": "a", "tools/kill.sh": "a", "tools/vm.sh": "a",
		"cmd/tare/main.go": "a", "cmd/tare/kill_test.go": "a", "cmd/tare/testdata/script/run.txtar": "a",
		"internal/measure/run/run.go": "a", "internal/measure/run/run_test.go": "a", "internal/measure/run/testdata/x": "a", "internal/report/report.go": "a", "internal/reporting/x.go": "a"}
	kill, tests := f.Tiers[1], []string{"cmd/tare"}
	before := f.hash(kill, tree, tests)
	for path, counts := range map[string]bool{
		".ci/tiers": true, ".ci/passed": false, "go.mod": true, "Makefile": true, "docs/method.md": false, "tools/kill.sh": true, "tools/vm.sh": false,
		"cmd/tare/main.go": true, "cmd/tare/kill_test.go": true, "cmd/tare/testdata/script/run.txtar": true,
		"internal/measure/run/run.go": true, "internal/measure/run/run_test.go": false, "internal/measure/run/testdata/x": false, "internal/report/report.go": false, "internal/reporting/x.go": true,
	} {
		tree[path] = "b"
		if changed := f.hash(kill, tree, tests) != before; changed != counts {
			t.Errorf("a change of %s changes the hash: %v, want %v", path, changed, counts)
		}
		delete(tree, path)
		if changed := f.hash(kill, tree, tests) != before; changed != counts {
			t.Errorf("without %s the hash changes: %v, want %v", path, changed, counts)
		}
		tree[path] = "a"
	}
}

func TestChoose(t *testing.T) {
	tiers := []Tier{{Name: "always", Always: true, Takes: 5}, {Name: "a", Takes: 100}, {Name: "b", Takes: 200}, {Name: "c", Takes: 300}, {Name: "d", Takes: 50}}
	hashes := map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}
	for name, c := range map[string]struct {
		passed  map[string]string
		commit  string
		seconds int
		want    string
	}{
		"all passed: one in rotation":           {hashes, "0", 1000, "a"},
		"another commit, another one":           {hashes, "0d", 1000, "b"},
		"the next that is done soon":            {hashes, "0e", 1000, "d"},
		"the next that fits":                    {hashes, "2", 60, "d"},
		"none fits":                             {hashes, "0", 10, ""},
		"what changed and one in rotation":      {map[string]string{"a": "1", "b": "old", "c": "3", "d": "4"}, "1", 1000, "b d"},
		"and one that is done soon":             {map[string]string{"a": "old", "b": "2", "c": "3", "d": "4"}, "0", 1000, "a d"},
		"a missing line runs":                   {map[string]string{"a": "1", "b": "2", "d": "4"}, "0", 1000, "c a"},
		"what does not fit is named":            {map[string]string{}, "0", 350, "a b d, left c"},
		"what is left out goes with the commit": {map[string]string{}, "2", 350, "c d, left a b"},
	} {
		choice := choose(tiers, hashes, c.passed, c.commit, c.seconds, 250)
		if got := names(choice); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func names(c Choice) string {
	var run, left []string
	for _, t := range c.Run {
		run = append(run, t.Name)
	}
	for _, t := range c.Left {
		left = append(left, t.Name)
	}
	if len(left) == 0 {
		return strings.Join(run, " ")
	}
	return strings.Join(run, " ") + ", left " + strings.Join(left, " ")
}

// repository makes a repository with a tier that runs a command.
func repository(t *testing.T, command string) (*state, string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".ci", "tiers"), strings.ReplaceAll(example, `"echo killed"`, command))
	write(t, filepath.Join(dir, "cmd", "tare", "main.go"), "package main\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "all"}} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Only tiers that passed for HEAD are noted, and a change makes them due again.
func TestPassedIsNoted(t *testing.T) {
	s, dir := repository(t, `"echo killed"`)
	if err := s.run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	due := func() bool {
		again, err := open()
		if err != nil {
			t.Fatal(err)
		}
		return again.passed["kill"] != again.hashes["kill"]
	}
	if due() {
		t.Error("a tier that passed is due")
	}
	write(t, filepath.Join(dir, "cmd", "tare", "main.go"), "package main // changed\n")
	if _, err := git(dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-a", "-m", "change"); err != nil {
		t.Fatal(err)
	}
	if !due() {
		t.Error("a tier whose folder changed is not due")
	}
}

func TestPassedIsNotNoted(t *testing.T) {
	for name, command := range map[string]string{
		"failed":            `"false"`,
		"a file is changed": `"echo >>cmd/tare/main.go"`,
		"a file is new":     `"touch cmd/tare/new.go"`,
		"another commit":    `"echo >>cmd/tare/main.go; git -c user.name=t -c user.email=t@localhost commit -qam more"`,
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := repository(t, command)
			s.run(context.Background(), nil)
			if data, err := os.ReadFile(filepath.Join(dir, passedFile)); err == nil && len(data) > 0 {
				t.Errorf("noted: %s", data)
			}
		})
	}
	t.Run("dirty before", func(t *testing.T) {
		_, dir := repository(t, `"true"`)
		write(t, filepath.Join(dir, "new"), "")
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		s.run(context.Background(), nil)
		if _, err := os.Stat(filepath.Join(dir, passedFile)); err == nil {
			t.Error("noted although the tree was not clean")
		}
	})
}

// At its limit a tier ends with all its processes, and the reason names the running test.
func TestLimit(t *testing.T) {
	var out strings.Builder
	command := "echo '=== RUN   TestSlow'; sleep 3600 & echo beside $!; sleep 3600"
	r := run(context.Background(), t.TempDir(), Tier{Name: "slow", Run: command, Takes: 1, Limit: 1}, &out)
	if r.Err == nil || !strings.Contains(r.Err.Error(), "not done after 1 s") {
		t.Errorf("%v", r.Err)
	}
	if said := strings.Join(r.Why, "\n"); !strings.Contains(said, "not ended: TestSlow") {
		t.Errorf("said %q", said)
	}
	said := out.String()
	pid, err := strconv.Atoi(strings.TrimSpace(said[strings.LastIndex(said, "beside ")+len("beside "):]))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process exists until its new parent has reaped it.
	for range 1000 {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}

// The result of a failed tier has its failed tests.
func TestWhy(t *testing.T) {
	command := "printf -- '=== RUN   TestA\\n--- FAIL: TestA (0.1s)\\n    a_test.go:7: wanted 1\\n'; exit 3"
	r := run(context.Background(), t.TempDir(), Tier{Name: "fails", Run: command, Takes: 1, Limit: 60}, &strings.Builder{})
	said := strings.Join(r.Why, "\n")
	if r.Err == nil || !strings.Contains(said, "a_test.go:7: wanted 1") || strings.Contains(said, "not ended") {
		t.Errorf("%v: %q", r.Err, said)
	}
}
