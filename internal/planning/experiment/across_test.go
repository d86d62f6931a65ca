package experiment

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/record"
)

// Volumes replace the arms; the written experiment is read as the same one.
func TestAcross(t *testing.T) {
	for src, environment := range map[string]string{
		"workloads: {a: {kind: oltp}, b: {kind: oltp, arms: [rootfs]}}":                                                                     "host",
		"arms: {x: {environment: rootfs}, y: {environment: host}}\nbaseline: x\nworkloads: {a: {kind: oltp, arms: [y]}, b: {kind: oltp}}\n": "rootfs",
		"arms: {x: {environment: rootfs}, y: {environment: host}}\nbaseline: x\nworkloads: {a: {kind: oltp}, b: {kind: oltp}}\n" +
			"sizes: {big: {a.rows: 99}, few: {arms: x}}\n": "rootfs",
	} {
		e, err := Parse("t.yaml", []byte(src), testWords())
		if err != nil {
			t.Fatal(err)
		}
		sizes := len(e.Sizes)
		if err := e.Across("--volume", []string{"one", "two"}, []string{"bind", "dir:/x"}, testWords()); err != nil {
			t.Fatal(err)
		}
		want := []ArmSpec{{Name: "one", Environment: environment, Options: record.Options{Volume: "bind"}}, {Name: "two", Environment: environment, Options: record.Options{Volume: "dir:/x"}}}
		for i := range e.Workloads {
			if w := &e.Workloads[i]; !cmp.Equal(e.ArmsOf(w), want) || w.Baseline != "one" {
				t.Errorf("%s: %s has %+v, baseline %s", src, w.Name, e.ArmsOf(w), w.Baseline)
			}
		}
		if sizes == 2 && (len(e.Sizes) != 1 || e.Sizes[0].Name != "big") {
			t.Errorf("the sizes are %+v", e.Sizes)
		}
		again, err := Parse("t.yaml", e.YAML(), testWords())
		if err != nil {
			t.Fatalf("%v\n%s", err, e.YAML())
		}
		if d := cmp.Diff(e, again); d != "" {
			t.Errorf("%s\n%s", e.YAML(), d)
		}
	}
	e := validExperiment()
	for _, bad := range [][]string{{"bind", "none"}, {"bind", "bind"}} {
		if err := e.Across("--volume", bad, bad, testWords()); err == nil {
			t.Errorf("%v: nothing is wrong", bad)
		}
	}
	if d := cmp.Diff(validExperiment(), e); d != "" {
		t.Errorf("an error changed it: %s", d)
	}
}

// volumesOfPods are podWords with two volumes that only pods have.
func volumesOfPods() Words {
	w := podWords()
	w.Arms = append(w.Arms, w.Places...)
	ofPod := []string{"emptydir", "pvc:fast"}
	w.OfPod = func(volume string) bool { return slices.Contains(ofPod, volume) }
	others := w.Volume
	w.Volume = func(text string) error {
		if w.OfPod(text) {
			return nil
		}
		return others(text)
	}
	return w
}

// A volume of pods puts a pod in the place of another baseline; an experiment that compares volumes
// of pods keeps its arms.
func TestAcrossVolumesOfPods(t *testing.T) {
	words := volumesOfPods()
	for src, want := range map[string][]ArmSpec{
		"workloads: {a: {kind: oltp}}": {{Name: "x", Environment: "besteffort", Options: record.Options{Volume: "bind"}}, {Name: "y", Environment: "besteffort", Options: record.Options{Volume: "pvc:fast"}}},
		"arms: {p: {environment: \"burstable:cpu=1\"}, h: {environment: host}}\nbaseline: p\nworkloads: {a: {kind: oltp}}": {
			{Name: "x", Environment: "burstable:cpu=1", Options: record.Options{Volume: "bind"}}, {Name: "y", Environment: "burstable:cpu=1", Options: record.Options{Volume: "pvc:fast"}}},
		"arms: {p: {environment: burstable, volume: emptydir}}\nbaseline: p\nworkloads: {a: {kind: oltp}}": {{Name: "p", Environment: "burstable", Options: record.Options{Volume: "emptydir"}},
			{Name: "x", Environment: "burstable", Options: record.Options{Volume: "bind"}}, {Name: "y", Environment: "burstable", Options: record.Options{Volume: "pvc:fast"}}},
	} {
		e, err := Parse("t.yaml", []byte(src), words)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if err := e.Across("--volume", []string{"x", "y"}, []string{"bind", "pvc:fast"}, words); err != nil {
			t.Fatal(err)
		}
		w := &e.Workloads[0]
		if d := cmp.Diff(want, e.ArmsOf(w)); d != "" || w.Baseline != want[0].Name {
			t.Errorf("%s: baseline %s, %s", src, w.Baseline, d)
		}
		again, err := Parse("t.yaml", e.YAML(), words)
		if err != nil || cmp.Diff(e, again) != "" {
			t.Errorf("%s: %v\n%s", src, err, e.YAML())
		}
	}
	e, err := Parse("t.yaml", []byte("arms: {p: {environment: burstable, volume: emptydir}}\nbaseline: p\nworkloads: {a: {kind: oltp}}"), words)
	if err != nil || !e.ComparesVolumesOfPods(words) {
		t.Fatalf("%v: it compares volumes of pods", err)
	}
	if err := e.Across("--volume", []string{"p"}, []string{"pvc:fast"}, words); err == nil {
		t.Error("two arms have one name")
	}
}
