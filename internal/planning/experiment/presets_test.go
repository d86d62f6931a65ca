package experiment

import (
	"slices"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	if !slices.Contains(Presets(), Quick) {
		t.Fatalf("no preset %s: %q", Quick, Presets())
	}
	for _, name := range Presets() {
		src, ok := Preset(name)
		if !ok {
			t.Fatalf("preset %s is listed and not there", name)
		}
		// Whether its words are known is for the catalog to test.
		if !strings.Contains(string(src), "title: ") {
			t.Errorf("preset %s has no title", name)
		}
	}
	if _, ok := Preset("../presets"); ok {
		t.Error("a preset outside the presets")
	}
}
