package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArms(t *testing.T) {
	got, err := Parse("f.yaml", []byte(colocated), testWords())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(colocatedExperiment(), got); d != "" {
		t.Error(d)
	}
	golden(t, "testdata/colocated.annotated", string(got.Annotated(testWords())))
	back, err := Parse("f.yaml", got.YAML(), testWords())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, back); d != "" {
		t.Errorf("written and read again: %s", d)
	}
	if arms := armNamesOf(got.ArmsOf(got.Workload("b"))); !cmp.Equal(arms, []string{"none", "idle"}) {
		t.Errorf("arms of b: %v", arms)
	}
}

func TestSetArms(t *testing.T) {
	for setting, want := range map[string]func(*Experiment){
		"arms.idle.isolation=cpu.weight=3": func(e *Experiment) { e.Named[2].Isolation = []string{"cpu.weight=3"} },
		"arms.idle.isolation=none":         func(e *Experiment) { e.Named[2].Isolation = nil },
		"arms.both.set.threads=9":          func(e *Experiment) { e.Workload("a"); e.Named[3].Set["threads"] = "9" },
		"arms.idle.network=bridge":         func(e *Experiment) { e.Named[2].Network = "bridge" },
		"arms.idle.image=localhost/x:1":    func(e *Experiment) { e.Named[2].Image = "localhost/x:1" },
		"hogs.threads=1":                   func(e *Experiment) { e.Neighbours[0].Params["threads"] = "1" },
		"neighbours.hogs.params.threads=1": func(e *Experiment) { e.Neighbours[0].Params["threads"] = "1" },
		"neighbours.hogs.memory=1GiB":      func(e *Experiment) { e.Neighbours[0].Memory = 1 << 30 },
		"neighbours.noise.kind=spin": func(e *Experiment) {
			e.Neighbours[1].Kind, e.Neighbours[1].Params = "spin", map[string]string{"threads": "2"}
		},
		"arms.idle.environment=cgroup:cpu=1": func(e *Experiment) { e.Named[2].Environment = "cgroup:cpu=1" },

		"arms=idle":    func(e *Experiment) { e.Named, e.Sizes = []ArmSpec{e.Named[0], e.Named[1], e.Named[2]}, nil },
		"b.arms=idle":  func(e *Experiment) { e.Workloads[1].Arms = []string{"idle"} },
		"c.arms=large": func(e *Experiment) {},
		"size=published": func(e *Experiment) {
			e.Budget *= 20
			e.Workloads[0].Params["threads"] = "56"
			e.Neighbours[0].Params["threads"] = "10"
			e.Named[3].Set["rows"] = "1000000"
		},
	} {
		want0 := colocatedExperiment()
		want(want0)
		got := colocatedExperiment()
		if err := got.Set(setting, testWords()); err != nil {
			t.Errorf("%s: %v", setting, err)
			continue
		}
		if d := cmp.Diff(want0, got); d != "" {
			t.Errorf("%s: %s", setting, d)
		}
	}
}

// An arm that is removed is also removed from a workload's own choice.
func TestSetArmsNarrows(t *testing.T) {
	for choice, want := range map[string][]string{
		"idle,both": {"idle", "both"}, "idle": {"idle"}, "alone": {"none"},
	} {
		e := colocatedExperiment()
		e.Workloads[1].Arms = []string{"idle", "both"}
		if err := e.Set("arms="+choice, testWords()); err != nil {
			t.Errorf("%s: %v", choice, err)
		}
		if d := cmp.Diff(want, e.Workloads[1].Arms); d != "" {
			t.Errorf("%s: %s", choice, d)
		}
	}
}

func TestSetArmsErrors(t *testing.T) {
	for setting, want := range map[string]string{
		"arms.idel.isolation=none":       `no arm "idel"; did you mean "idle"?`,
		"arms.idle.isolation=cpu.idel":   `unknown isolation "cpu.idel"; did you mean "cpu.idle"?`,
		"arms.idle.neighbour=hog":        `unknown neighbour "hog"; did you mean "hogs"?`,
		"arms.idle.neighbour=none":       `arm idle: isolation from what? it has no neighbour`,
		"arms.idle.set.thread=1":         `workload a, arm idle: oltp has no parameter "thread"; did you mean "threads"?`,
		"arms.idle.volume=bidn":          `unknown volume "bidn"; did you mean "bind"?`,
		"arms.idle.x=1":                  `an arm has no "x"; valid: environment, neighbour, isolation, volume, network, seccomp, capabilities, apparmor, cpus, burst, weight, memory, cpuset, image, against, set`,
		"arms.idle.seccomp=none":         `unknown seccomp "none"; valid: default, unconfined`,
		"arms=idel":                      `unknown arm "idel"; did you mean "idle"?`,
		"hogs.thread=1":                  `hogs (spin) has no parameter "thread"; did you mean "threads"?`,
		"neighbours.hogs.memory=1k":      `memory 1k is out of range; want 1MiB to 16384GiB`,
		"neighbours=x":                   `neighbours is not one value`,
		"baseline=aloen":                 `unknown baseline "aloen"; did you mean "alone"?`,
		"size=publisched":                `no size "publisched"; did you mean "published"?`,
		"arms.idle.environment=cgroup:x": `environment cgroup: no level "x"`,
		"arms.idle.environment=hots:x":   `unknown environment "hots"; did you mean "host"?`,
	} {
		e := colocatedExperiment()
		err := e.Set(setting, testWords())
		if err == nil || err.Error() != "--set "+setting+": "+want {
			t.Errorf("%s:\n got %v\nwant %s", setting, err, want)
		}
		if d := cmp.Diff(colocatedExperiment(), e); d != "" {
			t.Errorf("%s: changed in spite of the error: %s", setting, d)
		}
	}
	if err := validExperiment().Set("size=x", testWords()); err == nil || err.Error() != "--set size=x: this experiment has no sizes" {
		t.Errorf("without sizes: %v", err)
	}
}
