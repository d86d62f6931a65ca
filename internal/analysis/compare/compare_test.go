package compare

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

var began = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// result makes a result of two arms whose rates differ by the loss, in a few generations, with
// equal blocks but for a little noise.
func result(id string, loss float64) *record.Result {
	r := &record.Result{
		Dir: id,
		Plan: record.Plan{
			Schema: record.PlanSchema, Experiment: "quick", Seed: 7, Budget: 60, Precision: 0.01, Margin: 0.01,
			Source: "name: quick\nvolume: layer\nscratch: \"\"\nwindow: auto\n",
			Workloads: []record.Workload{{
				Name: "db", Kind: "commit", Params: map[string]string{"size": "1KiB"}, Primary: "throughput",
				Metrics: []string{"throughput"}, Baseline: "host",
				Arms: []record.Arm{{Name: "host", Environment: "host"}, {Name: "container", Environment: "container", Step: "host"}},
			}},
		},
		Manifest: record.Manifest{
			Tare: "1.0", Started: began, User: "root", Versions: map[string]string{"runc": "1.1.5"},
			Host: record.Host{Name: "db7", Kernel: "6.1", Arch: "amd64", CPUModel: "EPYC", CPUs: 8, Memory: 8 << 30, Mitigations: map[string]string{"l1tf": "on"}},
			Settings: map[string][]record.Setting{
				"db/host":      {{Name: "cgroup", Got: "tare-" + id + "/host"}, {Name: "seccomp", Got: "none"}},
				"db/container": {{Name: "cgroup", Got: "tare-" + id + "/container"}, {Name: "seccomp", Got: "filter"}},
			},
		},
		Lines: []record.Line{{Time: began, Run: &record.Run{Schema: record.RecordSchema, ID: id, Seed: 7}}},
	}
	for g := range 6 {
		for b := range 4 {
			wobble := float64((7*g+3*b)%5) * 2
			window := func(arm string, rate float64) record.Window {
				return record.Window{Arm: arm, Seconds: 1, Ops: uint64(rate), First: uint64(rate / 2), FirstSeconds: 0.5, Start: float64(8*g + 2*b)}
			}
			r.Lines = append(r.Lines, record.Line{Time: began.Add(time.Duration(8*g+2*b) * time.Second), Block: &record.Block{Workload: "db", Generation: g, Number: b,
				Windows: []record.Window{window("host", 10000), window("container", 10000*(1-loss)+10*wobble)}}})
		}
	}
	r.Lines = append(r.Lines, record.Line{Time: began.Add(time.Minute), End: &record.End{Reason: "budget"}})
	return r
}

func TestTheSameExperiment(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.10)
	after.Plan.Seed, after.Plan.Budget = 9, 120
	after.Manifest.Tare, after.Manifest.Host.Kernel = "1.1", "6.2"
	after.Manifest.Versions["runc"] = "1.2"
	after.Manifest.Settings["db/host"][1].Got, after.Manifest.Settings["db/container"][1].Got = "strict", "strict"
	c, err := Results(before, after, false)
	if err != nil {
		t.Fatal(err)
	}
	if !c.SameExperiment || !c.SameHost || c.Before.Run != "r4onexyz" || c.After.Tare != "1.1" {
		t.Errorf("%+v", c)
	}
	want := map[string]record.Weight{
		"tare: 1.0 1.1": record.WeightSetup, "kernel: 6.1 6.2": record.WeightSetup, "version of runc: 1.1.5 1.2": record.WeightSetup,
		"setting seccomp: filter strict": record.WeightSetup, "setting seccomp: none strict": record.WeightSetup,
		"seed: 7 9": record.WeightNone, "budget: 60 s 120 s": record.WeightNone,
	}
	for _, d := range c.Differences {
		name := said.English(d.What) + ": " + d.Before + " " + d.After
		if want[name] != d.Weight {
			t.Errorf("%s of %v weighs %q, want %q", name, d.Where, d.Weight, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if x := c.Changes[0]; len(c.Changes) != 1 || x.Arm != "container" || !x.Verdict.Worse() || !(x.Change.High < 0.93 && x.Change.Low > 0.90) {
		t.Errorf("changes %+v", c.Changes)
	}
	if len(c.Levels) != 2 || c.Levels[0].Arm != "host" || c.Levels[0].Ratio != 1 {
		t.Errorf("levels %+v", c.Levels)
	}
}

// The host of older versions was a process in the root group; now it is a service. That makes no other
// experiment, and the comparison says it.
func TestBaselinesRunAsDiffer(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.02)
	c, err := Results(before, after, false)
	if err != nil || len(c.Warnings) > 0 {
		t.Fatalf("two old results: %+v, %v", c.Warnings, err)
	}
	after.Plan.Workloads[0].Arms[0].RunsAs = record.AsService
	if c, err = Results(before, after, false); err != nil || !c.SameExperiment {
		t.Fatal(err)
	}
	want := record.Difference{
		What: record.Property("what the baseline runs as"), Where: []string{"db"}, Weight: record.WeightSetup,
		Before: "a process in the root group, in the session that started tare", After: "a service: a session and control groups of its own",
	}
	if !reflect.DeepEqual(c.Differences[0], want) {
		t.Errorf("%+v, want %+v", c.Differences[0], want)
	}
	if w := c.Warnings; len(w) != 1 || w[0].Workload != "db" || w[0].Arm != "host" || !strings.HasPrefix(said.English(w[0].Text), "the baselines differ: "+want.Before+" before, "+want.After+" after") {
		t.Errorf("warnings %+v", w)
	}
	for _, r := range []*record.Result{before, after} { // a container as the baseline
		r.Plan.Workloads[0].Arms[0].Environment, r.Plan.Workloads[0].Arms[0].RunsAs = "cgroup", ""
	}
	if c, err = Results(before, after, false); err != nil || len(c.Warnings) > 0 {
		t.Errorf("containers: %+v, %v", c.Warnings, err)
	}
}

// Absolute levels are for the same host; effects are for any.
func TestTwoHosts(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.02)
	after.Manifest.Host.Name, after.Manifest.Host.CPUs = "db8", 16
	before.Plan.Margin, after.Plan.Margin = 0.1, 0.1 // 24 windows do not rule out a loss of 1 % by stalls
	c, err := Results(before, after, false)
	if err != nil || c.SameHost || len(c.Levels) != 0 || len(c.Changes) != 1 || c.Changes[0].Verdict != record.NoDifference {
		t.Fatalf("%+v, %v", c, err)
	}
}

// A result that other statistics judged says so, and both are judged by those of today.
func TestOtherStatistics(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.10)
	after.Manifest.Statistics = analysis.Statistics
	c, err := Results(before, after, false)
	if err != nil {
		t.Fatal(err)
	}
	want := record.Difference{What: record.Say("statistics"), Before: "1", After: "3", Weight: record.WeightNone}
	if !slices.ContainsFunc(c.Differences, func(d record.Difference) bool {
		return d.What == want.What && d.Before == want.Before && d.After == want.After && d.Weight == want.Weight
	}) {
		t.Errorf("%+v", c.Differences)
	}
	if last := c.Warnings[len(c.Warnings)-1]; !strings.Contains(said.English(last.Text), "the statistics differ: version 1 before, version 3 after") {
		t.Errorf("%+v", c.Warnings)
	}
	before.Manifest.Statistics = analysis.Statistics
	if c, err = Results(before, after, false); err != nil || slices.ContainsFunc(c.Warnings, func(w record.Warning) bool { return strings.Contains(said.English(w.Text), "statistics") }) {
		t.Errorf("%+v, %v", c, err)
	}
}

// Results of different experiments are refused with the difference, and compared when forced.
func TestDifferentExperimentsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*record.Result){
		"kind":                func(r *record.Result) { r.Plan.Workloads[0].Kind = "oltp" },
		"parameter size":      func(r *record.Result) { r.Plan.Workloads[0].Params = map[string]string{"size": "64KiB"} },
		"parameter threads":   func(r *record.Result) { r.Plan.Workloads[0].Params = map[string]string{"size": "1KiB", "threads": "4"} },
		"environment":         func(r *record.Result) { r.Plan.Workloads[0].Arms[1].Environment = "rootfs" },
		"isolation":           func(r *record.Result) { r.Plan.Workloads[0].Arms[1].Isolation = []string{"cpu.idle"} },
		"neighbour of db/con": func(r *record.Result) { r.Plan.Workloads[0].Arms[1].Neighbour = "hogs" },
		"neighbour hogs": func(r *record.Result) {
			r.Plan.Workloads[0].Neighbours = []record.Neighbour{{Name: "hogs", Kind: "spin", Params: map[string]string{"threads": "10"}}}
		},
		"cpus of db/con": func(r *record.Result) { r.Plan.Workloads[0].Arms[1].CPUs = 1.5 },
		"set threads":    func(r *record.Result) { r.Plan.Workloads[0].Arms[1].Set = map[string]string{"threads": "4"} },
		"volume":         func(r *record.Result) { r.Plan.Source = strings.ReplaceAll(r.Plan.Source, "layer", "bind") },
	} {
		before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.02)
		change(after)
		_, err := Results(before, after, false)
		if !errors.Is(err, ErrDifferent) || !strings.Contains(err.Error(), name) || !strings.Contains(hint.Of(err), "--force") {
			t.Errorf("%s: %v", name, err)
		}
		c, err := Results(before, after, true)
		if err != nil || c.SameExperiment || len(c.Changes) != 1 {
			t.Errorf("%s, forced: %v", name, err)
		}
	}
}

func TestNothingToCompare(t *testing.T) {
	one := result("r4onexyz", 0.02)
	if _, err := Results(one, one, true); !errors.Is(err, ErrSame) {
		t.Errorf("the same run twice: %v", err)
	}
	other := result("r5twoxyz", 0.02)
	other.Plan.Workloads[0].Name = "other"
	if _, err := Results(one, other, true); !errors.Is(err, ErrDifferent) {
		t.Errorf("no common workload: %v", err)
	}
	other = result("r5twoxyz", 0.02)
	other.Plan.Workloads[0].Baseline = "container"
	other.Plan.Workloads[0].Arms[1].Step = ""
	if _, err := Results(one, other, false); !errors.Is(err, ErrDifferent) {
		t.Errorf("another baseline: %v", err)
	}
	if _, err := Results(one, other, true); !errors.Is(err, errNothing) {
		t.Errorf("another baseline, forced: %v", err)
	}
	other = result("r5twoxyz", 0.02)
	other.Plan.Workloads = nil
	if _, err := Results(one, other, false); err == nil {
		t.Error("a plan without workloads is compared")
	}
}

// An arm that one host cannot have does not stop the others from being compared.
func TestAnArmOnOneSide(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.02)
	after.Plan.Workloads[0].Arms = append(after.Plan.Workloads[0].Arms, record.Arm{Name: "nat", Environment: "nat"})
	for i := range after.Lines {
		if b := after.Lines[i].Block; b != nil {
			w := b.Windows[0]
			w.Arm = "nat"
			b.Windows = append(b.Windows, w)
		}
	}
	c, err := Results(before, after, false)
	if err != nil || len(c.Changes) != 1 || c.Differences[0].What != record.Property("arm") || c.Differences[0].After != "nat" {
		t.Fatalf("%+v, %v", c, err)
	}
}

// TestMeasuredIsNoSetting: measurements, and numbers that the kernel assigns anew, are no
// differences of the set-up.
func TestMeasuredIsNoSetting(t *testing.T) {
	settings := func(port, sync, loop string) []record.Setting {
		return []record.Setting{
			{Name: "autogroup", Got: port + ", nice 0"},
			{Name: "durability", Got: "kept"}, {Name: "durability.sync_median", Got: sync}, {Name: "durability.vda", Got: sync + " writes"},
			{Name: "nat.output", Got: "198.18.0.2:" + port}, {Name: "volume.device", Got: loop},
		}
	}
	a := readBack(&record.Result{}, settings("20015", "0.001 s", "/dev/loop3"))
	b := readBack(&record.Result{}, settings("20010", "0.002 s", "/dev/loop11"))
	if !maps.Equal(a, b) || len(a) != 4 || a["autogroup"] != "nice 0" {
		t.Errorf("%v and %v differ", a, b)
	}
}

// Arms that one of the results has alone are named, because they are in no row.
func TestArmsOfOneResult(t *testing.T) {
	before, after := result("r4onexyz", 0.02), result("r5twoxyz", 0.02)
	w := &after.Plan.Workloads[0]
	w.Arms = append(w.Arms, record.Arm{Name: "nat", Environment: "nat"})
	c, err := Results(before, after, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) == 0 || c.Warnings[0].Text != record.Say("arms_of_new", "arms", []string{"nat"}) || c.Warnings[0].Workload != w.Name {
		t.Errorf("%+v", c.Warnings)
	}
	if c, err = Results(after, before, true); err != nil || len(c.Warnings) == 0 || c.Warnings[0].Text != record.Say("arms_of_old", "arms", []string{"nat"}) {
		t.Errorf("%+v, %v", c, err)
	}
}
