package cli

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// Every preset is a valid experiment, can be planned on a bare host, and is the same after it was
// printed with its explanations and parsed.
func TestPresets(t *testing.T) {
	words := catalog.Words()
	for _, name := range experiment.Presets() {
		e, err := parsePreset(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := experiment.Parse(name+".yaml", e.Annotated(words), words)
		if err != nil {
			t.Errorf("%s, as printed: %v", name, err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Errorf("%s, as printed: %s", name, d)
		}
		p, err := plan.Build(e, catalog.Plan(nil), facts.Host{}, nil)
		if len(e.Named) > 0 && errors.Is(err, facts.ErrUnsupported) {
			continue // its arms need groups
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, l := range p.Loads {
			if len(e.Named) == 0 && l.Arms[0].Name != "host" || !l.Arms[1].Twin {
				t.Errorf("%s: arms of %s begin with %s, %s", name, l.Name, l.Arms[0].Name, l.Arms[1].Name)
			}
		}
	}
}
