package experiment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// For any file: no panic, every error has a position, and what was read is the same after it was
// written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(colocated))
	for _, pattern := range []string{"testdata/*.yaml", "presets/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := Parse("fuzz.yaml", src, testWords())
		if err != nil {
			checkPositions(t, err, src)
			return
		}
		back, err := Parse("fuzz.yaml", e.YAML(), testWords())
		if err != nil {
			t.Fatalf("%v\n%s", err, e.YAML())
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Fatal(d)
		}
	})
}

// Settings from the command line: any text, no panic.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"budget=5m", "a.threads=8", "workloads.b.params.note=x", "workloads..=", "=", "arms=,,",
		"arms.idle.isolation=cpu.weight=3", "arms.both.set.threads=9", "hogs.threads=1", "neighbours.hogs.memory=1GiB", "size=published", "baseline=none", "arms=idle", "a.note=\xff", "arms=\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		for _, fresh := range []func() *Experiment{validExperiment, colocatedExperiment} {
			e := fresh()
			err := e.Set(setting, testWords())
			if err != nil && !cmp.Equal(e, fresh()) {
				t.Fatalf("%q changed the experiment in spite of %v", setting, err)
			}
			if _, again := Parse("f.yaml", e.YAML(), testWords()); again != nil {
				t.Fatalf("%q (%v): %v\n%s", setting, err, again, e.YAML())
			}
		}
	})
}
