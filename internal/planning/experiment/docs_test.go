package experiment

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/experiment.md has a row for every key of an experiment file, in order, and for no other.
func TestKeysAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../docs/experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	words := Words{}
	row := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|")
	for heading, want := range map[string][]string{
		"At the top": names(experimentKeys(words)), "A workload": names(workloadKeys(words)),
		"An arm": names(armKeys(words)), "A neighbour": names(neighbourKeys(words)),
	} {
		_, section, _ := strings.Cut(string(b), "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var got []string
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: docs/experiment.md has\n%v\nwant\n%v", heading, got, want)
		}
	}
}
