package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/experiment"
)

// Every preset speaks the words of the catalog, in each of its sizes.
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

// What neighbours are made of has every parameter explained and checked.
func TestNeighbours(t *testing.T) {
	for _, n := range Neighbours() {
		for _, p := range n.Params() {
			if p.Help == "" || p.Check == nil || p.Check(p.Default) != nil {
				t.Errorf("neighbour %s: parameter %s: %+v", n.Name(), p.Name, p)
			}
		}
	}
}
