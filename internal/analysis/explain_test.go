package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// told returns the explanations of an arm of a group, by rule.
func told(t *testing.T, f fair, arm string) map[string]record.Explanation {
	t.Helper()
	all := map[string]record.Explanation{}
	for _, x := range price(t, f).Explained {
		if x.Arm == arm {
			all[x.Rule] = x
		}
	}
	return all
}

// probed is a group of three: alone, beside it, and one mechanism.
func probed(isolation string, rates [3]float64, cpus [2]float64, probes ...map[string]float64) fair {
	f := fair{seed: 3, generations: 6, noise: 0.02, workNoise: 0.02, light: true, stands: []stand{
		{name: "alone", alone: true, rate: rates[0]},
		{name: "none", rate: rates[1], work: 1000, neighbour: cpus[0]},
		{name: "it", isolation: []string{isolation}, rate: rates[2], work: 900, neighbour: cpus[1]},
	}}
	for i, p := range probes {
		f.stands[i].probes = p
	}
	return f
}

func one(name string, values ...float64) []map[string]float64 {
	var all []map[string]float64
	for _, x := range values {
		all = append(all, map[string]float64{name: x})
	}
	return all
}

// Every rule applies where the probes support it, with its numbers as evidence, and nowhere else.
func TestRules(t *testing.T) {
	worse, same, better := [3]float64{10_000, 6_000, 4_000}, [3]float64{10_000, 6_000, 6_000}, [3]float64{10_000, 6_000, 9_000}
	for _, c := range []struct {
		rule  string
		arm   string
		f     fair
		quiet []fair
	}{
		{"waiting for a CPU", "none", probed("cpu.idle", better, [2]float64{1, 0.9}, one(observe.Waiting, 0.1, 0.9, 0.2)...), []fair{
			probed("cpu.idle", better, [2]float64{1, 0.9}, one(observe.Waiting, 0.5, 0.5, 0.5)...),                          // no more than alone
			probed("cpu.idle", [3]float64{6_000, 6_000, 6_000}, [2]float64{1, 0.9}, one(observe.Waiting, 0.1, 0.9, 0.2)...), // no loss
			probed("cpu.idle", better, [2]float64{1, 0.9}, one("pressure.cpu.some", 0.1, 0.9, 0.2)...),                      // not observed
		}},
		{"more CPU time for the same work", "none", probed("cpu.idle", better, [2]float64{1, 0.9}, one(cpuMetric, 1, 1.2, 1)...), []fair{
			probed("cpu.idle", better, [2]float64{1, 0.9}, one(cpuMetric, 1, 0.6, 0.9)...), // the same for each operation
		}},
		{"waiting for disks", "none", probed("io.max", better, [2]float64{1, 0.9}, one(observe.DiskStall, 0.1, 0.6, 0.2)...), []fair{
			probed("io.max", better, [2]float64{1, 0.9}, one(observe.DiskStall, 0.01, 0.02, 0.01)...), // too little to matter
		}},
		{"waiting for memory", "none", probed("memory.max", better, [2]float64{1, 0.9}, one(observe.MemoryStall, 0, 0.4, 0)...), nil},
		{"steal", "none", probed("cpu.idle", better, [2]float64{1, 0.9}, one(observe.Stolen, 0.01, 0.3, 0.01)...), nil},
		{"pinning concentrates the neighbour's weight", "it", probed("cpuset.pinned", worse, [2]float64{1, 0.95}, one(observe.Waiting, 0.1, 0.5, 0.9)...), []fair{
			probed("cpuset.pinned", better, [2]float64{1, 0.95}, one(observe.Waiting, 0.1, 0.5, 0.9)...), // it is faster
			probed("cpuset.pinned", worse, [2]float64{1, 1.5}, one(observe.Waiting, 0.1, 0.5, 0.9)...),   // the neighbour took more
			probed("cpuset.pinned", worse, [2]float64{1, 0.95}, one(observe.Waiting, 0.1, 0.5, 0.5)...),  // nobody waits longer
			probed("cpu.weight", worse, [2]float64{1, 0.95}, one(observe.Waiting, 0.1, 0.5, 0.9)...),     // it is not pinned
		}},
		{"waits longer than without isolation", "it", probed("cpu.quota", worse, [2]float64{1, 0.5}, one(observe.Waiting, 0.1, 0.5, 0.9)...), []fair{
			probed("cpu.quota", better, [2]float64{1, 0.5}, one(observe.Waiting, 0.1, 0.5, 0.9)...),
		}},
		{"priority counts only within a group", "it", probed("sched.idle", same, [2]float64{1, 1}, one(observe.Waiting, 0.1, 0.5, 0.5)...), []fair{
			probed("sched.idle", better, [2]float64{1, 0.5}, one(observe.Waiting, 0.1, 0.5, 0.2)...), // it does something
			probed("cpu.weight", same, [2]float64{1, 1}, one(observe.Waiting, 0.1, 0.5, 0.5)...),     // it is no priority
		}},
		{"fewer CPUs than it can use", "it", probed("cpuset.split", worse, [2]float64{1, 1}, one(observe.Waiting, 0.1, 0.5, 0.9)...), []fair{
			probed("cpuset.split", better, [2]float64{1, 1}, one(observe.Waiting, 0.1, 0.5, 0.9)...),
		}},
		{"taken off the CPU", "it", probed("cpu.quota", worse, [2]float64{1, 1}, one("switches.involuntary", 1000, 2000, 8000)...), []fair{
			probed("cpu.quota", worse, [2]float64{1, 1}, one("switches.involuntary", 1000, 2000, 1500)...),
		}},
		{"moved between CPUs", "it", probed("cpu.quota", worse, [2]float64{1, 1}, one("cpu.migrations", 100, 100, 900)...), nil},
		{"throttled", "it", probed("cpu.quota", worse, [2]float64{1, 1}, one(observe.Throttled, 0, 0, 0.4)...), nil},
	} {
		x, ok := told(t, c.f, c.arm)[c.rule]
		if !ok {
			t.Errorf("%s: says nothing", c.rule)
			continue
		}
		if len(x.Evidence) == 0 || x.Text.IsZero() || strings.Contains(said.English(x.Text), "NaN") {
			t.Errorf("%s: %+v", c.rule, x)
		}
		for i, f := range c.quiet {
			if x, ok := told(t, f, c.arm)[c.rule]; ok {
				t.Errorf("%s: case %d says %q", c.rule, i, x.Text)
			}
		}
	}
}

// The numbers of a text are those of its evidence, in both arms.
func TestEvidence(t *testing.T) {
	f := probed("cpuset.pinned", [3]float64{10_000, 6_000, 4_000}, [2]float64{1, 0.9}, one(observe.Waiting, 0.1, 0.5, 0.8)...)
	f.noise, f.workNoise = 2e-3, 2e-3
	x := told(t, f, "it")["pinning concentrates the neighbour's weight"]
	for i, want := range []record.Evidence{
		{Metric: observe.Waiting, Unit: "s", Per: "second", Arm: 0.8, Against: 0.5},
		{Metric: observe.NeighbourCPU, Unit: "s", Per: "second", Arm: 0.9, Against: 1},
	} {
		got := x.Evidence[i]
		if math.Abs(got.Arm-want.Arm) > 3e-3 || math.Abs(got.Against-want.Against) > 3e-3 || got.Metric != want.Metric || got.Unit != want.Unit || got.Per != want.Per {
			t.Errorf("evidence %+v, want %+v", got, want)
		}
	}
	for _, number := range []string{"0.90 CPUs", "1.00 CPU without", " ms a second for their turn"} {
		if !strings.Contains(said.English(x.Text), number) {
			t.Errorf("%q is not in %q", number, x.Text)
		}
	}
}

// Equal arms with noise are explained no more often than the level allows.
func TestNoStoryOfNoise(t *testing.T) {
	var all []string
	for seed := range uint64(40) {
		f := probed("cpuset.pinned", [3]float64{8_000, 8_000, 8_000}, [2]float64{1, 1},
			one(observe.Waiting, 0.5, 0.5, 0.5)...)
		f.seed, f.noise = seed, 0.2
		for _, x := range price(t, f).Explained {
			all = append(all, fmt.Sprintf("%d: %s", seed, x.Rule))
		}
	}
	if slices.Sort(all); len(all) > 2 {
		t.Errorf("%d stories: %v", len(all), all)
	}
}
