package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
		want := []ArmSpec{{Name: "one", Environment: environment, Volume: "bind"}, {Name: "two", Environment: environment, Volume: "dir:/x"}}
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
