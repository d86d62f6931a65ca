package remedy_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/testing/remedytest"
	"github.com/tarelab/tare/record"
)

var nameOfArm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// Every remedy is described, for a cause that exists, and applies to one of the shapes. Its settings are of
// the vocabulary, undone for each that is applied, and its arm is one that an experiment can have.
func TestRemedies(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range remedy.All() {
		if !nameOfArm.MatchString(r.Name) || seen[r.Name] || r.Does == "" || r.Gives.IsZero() || r.Sets == "" || !(r.Part > 0 && r.Part <= 1) || len(r.For) == 0 {
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
		for _, c := range r.For {
			if !slices.Contains(record.LossCauses(), c) {
				t.Errorf("%s is for %q", r.Name, c)
			}
		}
		applied := 0
		for shape, l := range remedytest.Losses(t) {
			if trial, ok := r.On(l); ok {
				applied++
				checkTrial(t, r.Name+" on "+shape, l, trial, strings.Fields(shape)[0])
			}
		}
		if applied == 0 {
			t.Errorf("%s applies to no arm", r.Name)
		}
	}
}

func checkTrial(t *testing.T, name string, l remedy.Lost, trial remedy.Trial, kind string) {
	t.Helper()
	undone := map[record.RemedySetting]bool{}
	for _, s := range trial.Undo {
		undone[record.RemedySetting{On: s.On, Key: s.Key}] = true
	}
	for _, s := range slices.Concat(trial.Apply, trial.Undo) {
		if !slices.Contains(record.SettingKeys(), s.Key) || !slices.Contains([]record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer}, s.On) {
			t.Errorf("%s: %+v is not of the vocabulary", name, s)
		}
		if !undone[record.RemedySetting{On: s.On, Key: s.Key}] {
			t.Errorf("%s: %+v is not undone", name, s)
		}
	}
	if len(trial.Apply) == 0 || len(trial.Apply) != len(trial.Undo) {
		t.Errorf("%s: applied by %v, undone by %v", name, trial.Apply, trial.Undo)
	}
	if trial.Not != nil {
		if trial.Not.Reason.IsZero() || said.English(trial.Not.Remedy) == "" || trial.Arm.Environment != "" {
			t.Errorf("%s: %+v", name, trial)
		}
		return
	}
	e := experimentOf(t, kind)
	base := l.Arm
	base.Name, base.Neighbour = "base", ""
	trial.Arm.Name = "trial"
	src := e.Only("w", base, l.Arm, trial.Arm).YAML()
	again, err := experiment.Parse("trial.yaml", src, catalog.Words())
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, src)
	}
	if w := again.Workload("w"); len(w.Named) != 3 || w.Baseline != "base" || string(again.YAML()) != string(src) {
		t.Errorf("%s: read again as %+v", name, w)
	}
	if same := l.Arm; same.Name == "lost" {
		same.Name = "trial"
		if string(e.Only("w", base, same).YAML()) == string(e.Only("w", base, trial.Arm).YAML()) {
			t.Errorf("%s: the arm is the one that lost", name)
		}
	}
}

func experimentOf(t *testing.T, kind string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("e.yaml", []byte("neighbours: {hogs: {kind: spin}}\narms: {a: {environment: host}, b: {environment: host, neighbour: hogs, isolation: nice}}\nworkloads: {w: {kind: "+kind+"}, x: {kind: rpc}}\n"), catalog.Words())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// durable are the parameters that decide what a commit survives. Of the flush methods only those may be
// exchanged that flush log and data.
var durable = []string{"flush_log_at_trx_commit", "sync_binlog", "doublewrite", "binlog", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "appendonly", "appendfsync", "save", "sync"}

// No remedy weakens durability.
func TestRemediesKeepCommits(t *testing.T) {
	for _, r := range remedy.All() {
		for shape, l := range remedytest.Losses(t) {
			trial, ok := r.On(l)
			if !ok {
				continue
			}
			for name, value := range trial.Arm.Set {
				if slices.Contains(durable, name) || name == "flush_method" && !slices.Contains([]string{"fsync", "O_DIRECT", "O_DSYNC"}, value) {
					t.Errorf("%s on %s sets %s=%s", r.Name, shape, name, value)
				}
			}
			if trial.Arm.Volume == "tmpfs" {
				t.Errorf("%s on %s puts the data into memory", r.Name, shape)
			}
		}
	}
}

// The candidates are for the causes, the largest expected part first.
func TestCandidates(t *testing.T) {
	all := remedytest.Losses(t)
	share := func(x float64, causes ...record.LossCause) record.CauseShare {
		return record.CauseShare{Causes: causes, Share: &record.Share{Share: x, Low: x, High: x}}
	}
	for _, c := range []struct {
		shape  string
		causes []record.CauseShare
		first  string
		none   string // is no candidate
	}{
		{"oltp neighbour", []record.CauseShare{share(1, record.LossNeighbourCPU)}, "cpu-idle", "io-max"},
		{"oltp neighbour", []record.CauseShare{share(0.9, record.LossNeighbourDisk), share(0.1, record.LossNeighbourCPU)}, "io-max", "memory-high"},
		{"oltp host", []record.CauseShare{share(1, record.LossNeighbourCPU)}, "cpu-idle", "no-cpu-limit"},
		{"sysbench docker", []record.CauseShare{share(0.8, record.LossNAT), share(0.1, record.LossSeccomp)}, "host-network", "cpu-idle"},
		{"sysbench docker", []record.CauseShare{share(1, record.LossCPULimit)}, "no-cpu-limit", "host-network"},
		{"sysbench docker", []record.CauseShare{{Causes: []record.LossCause{record.LossSeccomp}}}, "seccomp-off", "host-network"},
		{"sysbench besteffort", []record.CauseShare{share(1, record.LossNeighbourCPU)}, "pod-requests", "cpu-idle"},
	} {
		got := remedy.Candidates(all[c.shape], c.causes)
		if len(got) == 0 || got[0].Arm != c.first {
			t.Errorf("%s, %+v: %+v, want %s first", c.shape, c.causes, got, c.first)
			continue
		}
		for i, x := range got {
			if x.Arm == c.none || len(x.For) == 0 || x.Spec.Name != x.Arm && x.Skipped == nil || i > 0 && x.Expected > got[i-1].Expected {
				t.Errorf("%s: candidate %d is %+v", c.shape, i, x.Candidate)
			}
		}
	}
	if got := remedy.Candidates(all["oltp neighbour"], []record.CauseShare{share(1, record.LossServer)}); len(got) > 0 {
		t.Errorf("a load that is slower by itself: %+v", got)
	}
}

// A name that the experiment has is not taken by the arm of a candidate.
func TestNamesThatAreTaken(t *testing.T) {
	l := remedytest.Losses(t)["oltp neighbour"]
	l.Taken = append(l.Taken, "cpu-idle")
	got := remedy.Candidates(l, []record.CauseShare{{Causes: []record.LossCause{record.LossNeighbourCPU}}})
	if got[0].Arm != "with-cpu-idle" || got[0].Spec.Name != "with-cpu-idle" || got[0].Remedies[0] != "cpu-idle" {
		t.Errorf("%+v", got[0])
	}
}

// A remedy that can have no effect takes no arm: a policy between two control groups, whose weights decide, and unused
// quota of a load that leaves none.
func TestUselessRemedies(t *testing.T) {
	policy, _ := remedy.Find("sched-idle")
	burst, _ := remedy.Find("limit-burst")
	for shape, l := range remedytest.Losses(t) {
		if _, ok := policy.On(l); ok != (l.Arm.Environment == "ungrouped") {
			t.Errorf("sched-idle on %s: %v", shape, ok)
		}
		if l.Arm.CPUs == 0 {
			continue
		}
		for received, want := range map[float64]bool{0: true, 0.6: true, 0.99: false} {
			l.Received = received * l.Arm.CPUs
			if _, ok := burst.On(l); ok != want {
				t.Errorf("limit-burst on %s, which used %v of its limit: %v", shape, received, ok)
			}
		}
	}
}

// What a remedy gives up has an amount where its settings are an amount of CPU or memory; without a memory limit the
// kernel's OOM killer chooses.
func TestGivesUpAmounts(t *testing.T) {
	amounts := []record.SettingKey{record.KeyCPUMax, record.KeyCPUBurst, record.KeyMemoryMax, record.KeyPodCPULimit, record.KeyPodCPURequest, record.KeyBufferPool, record.KeySharedBuffers}
	number := regexp.MustCompile(`\d (CPU|CPUs|[KMG]iB)\b`)
	for shape, l := range remedytest.Losses(t) {
		for _, c := range remedy.Candidates(l, []record.CauseShare{{Causes: record.LossCauses()}}) {
			has := slices.ContainsFunc(c.Apply, func(s record.RemedySetting) bool { return slices.Contains(amounts, s.Key) })
			text := ""
			for _, g := range c.Gives {
				text += said.English(g) + "; "
			}
			if strings.Contains(l.Arm.Environment, "cpu-limit") && c.Arm == "no-cpu-limit" && !l.Can.Pod {
				continue // the limit of this layer is a number of the host's CPUs
			}
			if has && !number.MatchString(text) {
				t.Errorf("%s on %s gives up %q", c.Arm, shape, text)
			}
			if c.Arm == "no-memory-limit" && !strings.Contains(text, "OOM killer") {
				t.Errorf("%s: %q", c.Arm, text)
			}
		}
	}
}

// Two remedies go together unless they set the same; the way back is in reverse.
func TestTogether(t *testing.T) {
	l := remedytest.Losses(t)["oltp neighbour"]
	by := map[string]remedy.Candidate{}
	for _, c := range remedy.Candidates(l, []record.CauseShare{{Causes: []record.LossCause{record.LossNeighbourCPU}}}) {
		by[c.Arm] = c
	}
	if _, ok := remedy.Together(l, by["cpu-idle"], by["cpu-weight"]); ok {
		t.Error("cpu.idle and cpu.weight set the same")
	}
	both, ok := remedy.Together(l, by["cpu-idle"], by["cpu-split"])
	if !ok || !slices.Equal(both.Spec.Isolation, []string{"cpu.idle", "cpuset.split=1"}) || both.Spec.Name != remedy.BothName || len(both.Does) != 2 {
		t.Fatalf("%v, %+v", ok, both)
	}
	if n := len(both.Undo); len(both.Apply) != 3 || n != 3 || both.Undo[n-1].Key != record.KeyCPUIdle || both.Apply[0].Key != record.KeyCPUIdle {
		t.Errorf("applied by %v, undone by %v", both.Apply, both.Undo)
	}
	if _, ok := remedy.Together(l, both, by["cpu-quota"]); ok {
		t.Error("three remedies together")
	}
}

// Without the arms that are protected, an experiment is still one.
func TestUnprotected(t *testing.T) {
	for _, name := range experiment.Presets() {
		src, _ := experiment.Preset(name)
		e, err := experiment.Parse(name+".yaml", src, catalog.Words())
		if err != nil {
			t.Fatal(err)
		}
		e.Unprotected()
		again, err := experiment.Parse(name+".yaml", e.YAML(), catalog.Words())
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, e.YAML())
		}
		for i := range again.Workloads {
			for _, a := range again.ArmsOf(&again.Workloads[i]) {
				if len(a.Isolation) > 0 {
					t.Errorf("%s: arm %s has %v", name, a.Name, a.Isolation)
				}
			}
		}
	}
}

// Spec has every key of an arm: what it leaves out, trials would measure without.
func TestSpecIsComplete(t *testing.T) {
	a := record.Arm{
		Name: "a", Environment: "docker", Neighbour: "n", Isolation: []string{"cpu.idle"}, Options: record.Options{Volume: "bind"}, Against: "b", Set: map[string]string{"x": "1"},
	}
	spec := reflect.ValueOf(remedy.Spec(a))
	for i := range spec.NumField() {
		if spec.Field(i).IsZero() {
			t.Errorf("Spec leaves %s out, or this test does", spec.Type().Field(i).Name)
		}
	}
}

// The limit of a pod is removed or rounded up without a change of its class.
func TestPodLimits(t *testing.T) {
	all := remedytest.Losses(t)
	for _, tt := range []struct {
		shape, remedy, environment string
		apply, undo                []string
	}{
		{"sysbench throttled", "no-cpu-limit", "burstable:cpu=100m", []string{"pod.cpu.limit="}, []string{"pod.cpu.limit=0.5"}},
		{"sysbench throttled", "whole-cpus", "burstable:cpu=100m,cpu-limit=1", []string{"pod.cpu.limit=1"}, []string{"pod.cpu.limit=0.5"}},
		{
			"sysbench half", "whole-cpus", "guaranteed:memory=1Gi,cpu=1",
			[]string{"pod.cpu.limit=1", "pod.cpu.request=1"}, []string{"pod.cpu.request=0.5", "pod.cpu.limit=0.5"},
		},
		{"sysbench half", "no-cpu-limit", "", nil, nil},
		{"sysbench guaranteed", "whole-cpus", "", nil, nil},
	} {
		r, _ := remedy.Find(tt.remedy)
		trial, ok := r.On(all[tt.shape])
		if !ok {
			trial = remedy.Trial{}
		}
		words := func(all []record.RemedySetting) (out []string) {
			for _, s := range all {
				out = append(out, string(s.Key)+"="+s.Value)
			}
			return out
		}
		if trial.Arm.Environment != tt.environment || !slices.Equal(words(trial.Apply), tt.apply) || !slices.Equal(words(trial.Undo), tt.undo) {
			t.Errorf("%s on %s: %+v", tt.remedy, tt.shape, trial)
		}
	}
}
