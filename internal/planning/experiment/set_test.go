package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	for setting, want := range map[string]func(*Experiment){
		"budget=5m":                     func(e *Experiment) { e.Budget *= 10; e.Budget /= 3 },
		"margin=2%":                     func(e *Experiment) { e.Margin = 0.02 },
		"scratch=":                      func(e *Experiment) {},
		"seed=0":                        func(e *Experiment) { e.Seed = 0 },
		"arms=all":                      func(e *Experiment) { e.Arms = nil },
		"arms=host, nat":                func(e *Experiment) { e.Arms = []string{"host", "nat"} },
		"a.threads=8":                   func(e *Experiment) { e.Workloads[0].Params["threads"] = "8" },
		"workloads.a.params.threads=8":  func(e *Experiment) { e.Workloads[0].Params["threads"] = "8" },
		"a.params.threads=8":            func(e *Experiment) { e.Workloads[0].Params["threads"] = "8" },
		"b.note=a = b, null":            func(e *Experiment) { e.Workloads[1].Params["note"] = "a = b, null" },
		"b.note=null":                   func(e *Experiment) { e.Workloads[1].Params["note"] = "null" },
		"b.share=0.5":                   func(e *Experiment) { e.Workloads[1].Share = 0.5 },
		"workloads.b.baseline=security": func(e *Experiment) { e.Workloads[1].Baseline = "security" },
		"b.kind=commit": func(e *Experiment) {
			e.Workloads[1].Kind, e.Workloads[1].Params = "commit", map[string]string{"bytes": "512"}
		},
	} {
		want0 := validExperiment()
		want(want0)
		got := validExperiment()
		if err := got.Set(setting, testWords()); err != nil {
			t.Errorf("%s: %v", setting, err)
			continue
		}
		if d := cmp.Diff(want0, got); d != "" {
			t.Errorf("%s: %s", setting, d)
		}
	}
}

func TestSetErrors(t *testing.T) {
	for setting, want := range map[string]string{
		"budget":              `--set budget: want path=value, for example budget=3m`,
		"bugdet=3m":           `--set bugdet=3m: unknown key "bugdet"; did you mean "budget"?`,
		"budget=3":            `--set budget=3: budget: 3 has no unit; write 3s for seconds`,
		"workloads=a":         `--set workloads=a: workloads is not one value; want WORKLOAD.PARAM, WORKLOAD one of a, b`,
		"c.threads=1":         `--set c.threads=1: no workload "c"; did you mean "a"?`,
		"aa.threads=1":        `--set aa.threads=1: no workload "aa"; did you mean "a"?`,
		"a.thread=1":          `--set a.thread=1: a (oltp) has no parameter "thread"; did you mean "threads"?`,
		"a.params=1":          `--set a.params=1: params is not one value; want a.PARAM, PARAM one of mode, threads, rows`,
		"a.threads=0":         `--set a.threads=0: threads: "0" is not a whole number from 1 to 256`,
		"a.mode=rw":           `--set a.mode=rw: unknown mode "rw"; valid: read_only, read_write`,
		"a.b.c.d=1":           `--set a.b.c.d=1: no such path; want KEY, WORKLOAD.PARAM or workloads.WORKLOAD.params.PARAM`,
		"workloads.x.arms=1":  `--set workloads.x.arms=1: no workload "x"; did you mean "a"?`,
		"b.arms=host,host":    `--set b.arms=host,host: arm "host" is named twice`,
		"b.arms=nat:x=1":      `--set b.arms=nat:x=1: arm "nat:x=1": no level "x=1"`,
		"b.arms=cgroup:cpu=1": `--set b.arms=cgroup:cpu=1: arm "cgroup:cpu=1": one with levels (cpu=1) is named in a file: arms: {NAME: {environment: "cgroup:cpu=1"}}`,
		"b.baseline=hots":     `--set b.baseline=hots: unknown baseline "hots"; did you mean "host"?`,
		"workloads.a.kind=x":  `--set workloads.a.kind=x: unknown kind "x"; valid: commit, oltp, rpc`,
		"title=two\nlines":    "--set title=two\nlines: title holds a line break or a control character",
		"a.params.nothing=12": `--set a.params.nothing=12: oltp has no parameter "nothing"; valid: mode, threads, rows`,
	} {
		e := validExperiment()
		err := e.Set(setting, testWords())
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", setting, err, want)
		}
		if d := cmp.Diff(validExperiment(), e); d != "" {
			t.Errorf("%s: changed in spite of the error: %s", setting, d)
		}
	}
}

func TestApplyNamesTheFlag(t *testing.T) {
	err := validExperiment().Apply("--budget", "budget", "1", testWords())
	if want := "--budget: budget: 1 has no unit; write 1s for seconds"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSelect(t *testing.T) {
	e := validExperiment()
	if err := e.Select("--workload", []string{"b"}); err != nil || len(e.Workloads) != 1 || e.Workloads[0].Name != "b" {
		t.Errorf("%v, %v", e.Workloads, err)
	}
	e = validExperiment()
	err := e.Select("--workload", []string{"bb", "commit"})
	want := "--workload: no workload \"bb\"; did you mean \"b\"?\n--workload: no workload \"commit\"; valid: a, b"
	if err == nil || err.Error() != want || len(e.Workloads) != 2 {
		t.Errorf("got %v", err)
	}
}
