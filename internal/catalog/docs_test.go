package catalog

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/loads/workload"
)

// section is the text below a heading of docs/experiment.md.
func section(t *testing.T, heading string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/experiment.md has no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// documented has the parameters of each kind in a section, as name=default.
func documented(text string) map[string][]string {
	all := map[string][]string{}
	for _, line := range regexp.MustCompile(`(?m)^- (\*\*.*)$`).FindAllStringSubmatch(text, -1) {
		kinds, params, _ := strings.Cut(line[1], ": ")
		for _, kind := range regexp.MustCompile(`\*\*([\w-]+)\*\*`).FindAllStringSubmatch(kinds, -1) {
			for _, p := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(params, -1) {
				all[kind[1]] = append(all[kind[1]], p[1])
			}
		}
	}
	return all
}

func withDefaults(params []workload.Param) (all []string) {
	for _, p := range params {
		all = append(all, p.Name+"="+p.Default)
	}
	return all
}

// docs/experiment.md has every parameter of every load with its default, and the environments of an arm.
func TestParametersAreDocumented(t *testing.T) {
	words := Words()
	got := documented(section(t, "Parameters of loads, with defaults"))
	for kind, params := range words.Kinds {
		if want := withDefaults(params); !slices.Equal(got[kind], want) {
			t.Errorf("%s: docs/experiment.md has\n%v\nwant\n%v", kind, got[kind], want)
		}
		delete(got, kind)
	}
	if len(got) > 0 {
		t.Errorf("docs/experiment.md has other kinds of loads: %v", got)
	}
	arm := section(t, "An arm")
	for _, environment := range words.Arms {
		if !strings.Contains(arm, "`"+environment+"`") {
			t.Errorf("docs/experiment.md: an arm has no environment %s", environment)
		}
	}
}

// Of a neighbour it has the parameters that the load of that kind has not, or has with another default.
func TestParametersOfNeighboursAreDocumented(t *testing.T) {
	words := Words()
	got := documented(section(t, "Parameters of neighbours"))
	for kind, params := range words.Neighbours {
		load := withDefaults(words.Kinds[kind])
		want := slices.DeleteFunc(withDefaults(params), func(p string) bool { return slices.Contains(load, p) })
		if !slices.Equal(got[kind], want) {
			t.Errorf("%s: docs/experiment.md has\n%v\nwant\n%v", kind, got[kind], want)
		}
		delete(got, kind)
	}
	if len(got) > 0 {
		t.Errorf("docs/experiment.md has other kinds of neighbours: %v", got)
	}
}
