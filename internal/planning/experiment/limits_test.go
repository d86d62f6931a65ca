package experiment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/record"
)

// Limits are read from the file, replaced one by one by flags, and written so that they are read again.
func TestLimits(t *testing.T) {
	words := testWords()
	words.Metric = func(name string) string { return strings.Replace(name, "tps", "throughput", 1) }
	e, err := Parse("a.yaml", []byte("limits: {p99.9: 10%, tps: 0.05}\nuntil: decided\nworkloads: {a: {kind: oltp}}\n"), words)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Set("limits.p99.9=150%", words); err != nil {
		t.Fatal(err)
	}
	if err := e.Set("limits.p50=2%", words); err != nil {
		t.Fatal(err)
	}
	want := []record.Limit{{Metric: "p99.9", Most: 1.5}, {Metric: "throughput", Most: 0.05}, {Metric: "p50", Most: 0.02}}
	if d := cmp.Diff(want, e.Limits); d != "" || !e.UntilDecided {
		t.Error(d, e.UntilDecided)
	}
	if !strings.Contains(string(e.YAML()), "limits: {p99.9: 150%, throughput: 5%, p50: 2%}") {
		t.Errorf("written as\n%s", e.YAML())
	}
	if err := e.Set("until=precise", words); err != nil || e.UntilDecided {
		t.Error(err, e.UntilDecided)
	}
}

func TestLimitsOfNoSize(t *testing.T) {
	for text, want := range map[string]string{
		"limits: {p99: -1%}":        "a.yaml:1:15: the limit of p99 is negative",
		"limits: {p99: 5}":          `a.yaml:1:15: p99: 5 is 500%; did you mean "5%"?`,
		"limits: {p99: much}":       "neither a percentage nor a ratio",
		"limits: {p99: 1%, p99: 2}": "given twice",
		"limits: 5%":                "want keys and values",
		"until: decide":             `did you mean "decided"?`,
	} {
		_, err := Parse("a.yaml", []byte(text+"\nworkloads: {a: {kind: oltp}}\n"), testWords())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
