package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// Every preset is valid in the words of the catalog, in each of its sizes.
func TestPresetSizes(t *testing.T) {
	for _, name := range experiment.Presets() {
		src, _ := experiment.Preset(name)
		e, err := experiment.Parse(name+".yaml", src, Words())
		if err != nil {
			t.Errorf("preset %s: %v", name, err)
			continue
		}
		for _, size := range e.Sizes {
			large := *e
			if err := large.Set("size="+size.Name, Words()); err != nil {
				t.Errorf("preset %s: %v", name, err)
			}
			if cmp.Equal(e, &large) {
				t.Errorf("preset %s: size %s changes nothing", name, size.Name)
			}
		}
	}
}

// The page about neighbours names every kind and every mechanism with its default.
func TestNeighboursPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/neighbours.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, n := range neighbours() {
		if !strings.Contains(page, "\n| `"+n.Name()+"` |") {
			t.Errorf("no row for the neighbour %s", n.Name())
		}
	}
	for _, word := range append(Words().Mechanisms, isolation.None) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("no word of the mechanism %s", word)
		}
	}
}

// The page about containers names every environment that makes containers or needs an image, and its
// examples are valid.
func TestContainerPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/container.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, r := range Rungs(nil) {
		if can := r.Capabilities(); (can.Container || can.Archive) && !strings.Contains(page, "`"+r.Name()+"`") {
			t.Errorf("no word of %s", r.Name())
		}
	}
	examples := strings.Split(page, "```yaml\n")[1:]
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		e, err := experiment.Parse("example.yaml", []byte(example), Words())
		if err != nil || len(e.Named) < 3 {
			t.Errorf("%v in\n%s", err, example)
		}
	}
	if len(examples) == 0 {
		t.Error("no examples")
	}
}

// Every parameter of a neighbour's load is explained and checked.
func TestNeighbours(t *testing.T) {
	for _, n := range neighbours() {
		for _, p := range n.Params() {
			if p.Help == "" || p.Check == nil || p.Check(p.Default) != nil {
				t.Errorf("neighbour %s: parameter %s: %+v", n.Name(), p.Name, p)
			}
		}
	}
}
