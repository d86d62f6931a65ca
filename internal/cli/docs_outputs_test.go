package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/planning/experiment"
)

// measures finds the preset of a command; without a name it is quick.
var measures = regexp.MustCompile(`(?m)^\$ (?:sudo )?(?:bin/)?tare (?:run|advise)(?: --continue)?(?: ([a-z][a-z0-9-]*))?(?: .*)?$`)

// presetsOf are the presets that a text has a command of.
func presetsOf(text string) (names []string) {
	for _, m := range measures.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			m[1] = "quick"
		}
		names = append(names, m[1])
	}
	return names
}

// Each preset has an output in docs/results or a page, and each file of docs/results is of a preset.
func TestOutputsOfPresets(t *testing.T) {
	files, err := filepath.Glob("../../docs/results/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		names := presetsOf(string(b))
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(experiment.Presets(), name) }) {
			t.Errorf("%s is of no preset: %v", f, names)
		}
		for _, name := range names {
			seen[name] = true
		}
	}
	for page := range maps.Values(pages(t)) {
		blocks := strings.Split("\n"+page, "\n```")
		for i := 1; i < len(blocks); i += 2 {
			for _, name := range presetsOf(blocks[i]) {
				seen[name] = seen[name] || strings.Count(blocks[i], "\n") > 2
			}
		}
	}
	for _, name := range experiment.Presets() {
		if !seen[name] {
			t.Errorf("no output of %s in docs/results or the pages", name)
		}
	}
}
