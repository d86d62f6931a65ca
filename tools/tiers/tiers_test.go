package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

const example = `
tiers:
  - {name: lint, always: true, run: "true", takes: 1, limit: 2}
  - {name: kill, run: "echo killed", takes: 10, limit: 20}
`

func TestParse(t *testing.T) {
	if _, err := parse([]byte(example)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"no limit":      {"limit: 20", "limit: 10", "limit"},
		"no command":    {`"echo killed"`, `""`, "run"},
		"twice":         {"name: lint", "name: kill", "twice"},
		"unknown field": {"takes: 10", "take: 10", "take"},
	} {
		if _, err := parse([]byte(strings.Replace(example, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Every tier runs in some commits and is named in the others, never twice, and no choice takes longer than it may.
func TestChoose(t *testing.T) {
	tiers := []Tier{{Name: "always", Always: true, Takes: 5}, {Name: "a", Takes: 100}, {Name: "b", Takes: 200}, {Name: "c", Takes: 300}, {Name: "d", Takes: 50}}
	ran := map[string]int{}
	for commit := range 200 {
		c, seconds := choose(tiers, strconv.Itoa(commit), 350), 0
		for _, tier := range c.Run {
			seconds += tier.Takes
			ran[tier.Name]++
		}
		if seconds > 350 || len(c.Run)+len(c.Left) != 4 {
			t.Errorf("%d: %v takes %d s", commit, c, seconds)
		}
		if again := choose(tiers, strconv.Itoa(commit), 350); !reflect.DeepEqual(again, c) {
			t.Errorf("%d: %v, then %v", commit, c, again)
		}
	}
	if len(ran) != 4 || ran["a"] == 200 || ran["c"] < 20 {
		t.Errorf("runs of 200: %v", ran)
	}
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
