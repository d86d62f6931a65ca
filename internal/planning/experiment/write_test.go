package experiment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

// YAML writes everything, and Parse reads it as the same experiment.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyExperiment(t)
		for name, src := range map[string][]byte{"YAML": e.YAML(), "Annotated": e.Annotated(testWords())} {
			back, err := Parse("other.yaml", src, testWords())
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, src)
			}
			if d := cmp.Diff(e, back); d != "" {
				t.Fatalf("%s: %s\n%s", name, d, src)
			}
		}
	})
}

func anyExperiment(t *rapid.T) *Experiment {
	words := testWords()
	texts := rapid.StringMatching(`[^\p{Cc}]{0,30}`)
	arms := rapid.Custom(func(t *rapid.T) []string {
		a := rapid.SliceOfNDistinct(rapid.SampledFrom(words.Arms), 0, 4, rapid.ID).Draw(t, "arms")
		if len(a) == 0 {
			return nil
		}
		return a
	})
	between := func(least, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, "duration"))
	}
	auto := func(least, most time.Duration) time.Duration {
		if rapid.Bool().Draw(t, "auto") {
			return 0
		}
		return between(least, most)
	}
	e := &Experiment{
		Name:        texts.Filter(func(s string) bool { return s != "" }).Draw(t, "name"),
		Title:       texts.Draw(t, "title"),
		Budget:      between(time.Second, 168*time.Hour),
		Precision:   rapid.Float64Range(0.0001, 0.5).Draw(t, "precision"),
		Margin:      float64(rapid.IntRange(1, 500).Draw(t, "margin")) / 1000,
		Seed:        rapid.Uint64().Draw(t, "seed"),
		Volume:      rapid.SampledFrom([]string{Volume, "bind", "dir:/x"}).Draw(t, "volume"),
		Unequal:     rapid.SampledFrom([]string{Refuse, Mark}).Draw(t, "unequal"),
		Scratch:     texts.Draw(t, "scratch"),
		Generations: rapid.IntRange(0, 10_000).Draw(t, "generations"),
		Window:      auto(10*time.Millisecond, 10*time.Minute),
		Discard:     auto(time.Millisecond, time.Minute),
		Arms:        arms.Draw(t, "arms"),

		UntilDecided: rapid.Bool().Draw(t, "until"),
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"throughput", "p99.9", "cpu_per_op", "a b: c"}), 0, 3, rapid.ID).Draw(t, "limits") {
		e.Limits = append(e.Limits, record.Limit{Metric: name, Most: rapid.Float64Range(0, 3).Draw(t, "most")})
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9][a-z0-9_-]{0,6}`), 1, 4, rapid.ID).Draw(t, "names") {
		kind, _ := words.kind(rapid.SampledFrom(words.kindNames()).Draw(t, "kind"))
		w := Workload{
			Name: name, Kind: kind.name, Arms: arms.Draw(t, "arms"),
			Share:    rapid.Float64Range(0.01, 100).Draw(t, "share"),
			Optional: rapid.Bool().Draw(t, "optional"), Objective: rapid.SampledFrom([]Objective{{}, {"p99", 10 * time.Millisecond}}).Draw(t, "objective"),
			Baseline: rapid.SampledFrom(words.Arms).Draw(t, "baseline"),
			Params:   kind.complete(nil),
		}
		if kind.name == "rpc" {
			w.Params["note"] = texts.Draw(t, "note")
		}
		e.Workloads = append(e.Workloads, w)
	}
	if rapid.Bool().Draw(t, "named") {
		nameArms(t, e)
	}
	return e
}

// nameArms replaces the choice of environments by named arms.
func nameArms(t *rapid.T, e *Experiment) {
	words := testWords()
	word := rapid.StringMatching(`[a-z0-9][a-z0-9_-]{0,6}`).Filter(func(s string) bool { return s != twinWord && s != noneWord })
	for _, name := range rapid.SliceOfNDistinct(word, 0, 3, rapid.ID).Draw(t, "neighbours") {
		kind, _ := words.neighbourKind(rapid.SampledFrom(words.neighbourKinds()).Draw(t, "kind of neighbour"))
		e.Neighbours = append(e.Neighbours, Neighbour{Name: name, Kind: kind.name, Params: kind.complete(nil),
			Memory: rapid.Int64Range(1<<20, 1<<44).Draw(t, "memory"), Pids: rapid.IntRange(1, 1<<22).Draw(t, "pids")})
	}
	e.Arms = nil
	for _, name := range rapid.SliceOfNDistinct(word, 1, 4, rapid.ID).Draw(t, "arm names") {
		a := ArmSpec{Name: name, Environment: rapid.SampledFrom(words.Arms).Draw(t, "environment"), Options: record.Options{
			Volume:  rapid.SampledFrom([]string{"", Volume, "bind"}).Draw(t, "volume of the arm"),
			Image:   rapid.SampledFrom([]string{"", "localhost/x:1"}).Draw(t, "image"),
			Network: rapid.SampledFrom([]string{"", "host", "bridge"}).Draw(t, "network"),
			Seccomp: rapid.SampledFrom([]string{"", "unconfined"}).Draw(t, "seccomp"), Capabilities: rapid.SampledFrom([]string{"", "none"}).Draw(t, "capabilities"),
			AppArmor: rapid.SampledFrom([]string{"", "docker-default"}).Draw(t, "apparmor"),
			CPUs:     rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "cpus"), MemoryBytes: rapid.SampledFrom([]int64{0, 1 << 30}).Draw(t, "memory of the arm"),
			Burst: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "burst"), Weight: rapid.SampledFrom([]int{0, 20}).Draw(t, "weight"),
			CPUSet: rapid.SampledFrom([]string{"", "0-1"}).Draw(t, "cpuset")}}
		if len(e.Neighbours) > 0 && rapid.Bool().Draw(t, "has a neighbour") {
			a.Neighbour = rapid.SampledFrom(e.neighbourNames()).Draw(t, "neighbour")
			a.Isolation = rapid.SampledFrom([][]string{nil, {"cpu.idle"}, {"cpu.weight=7", "cpu.idle"}}).Draw(t, "isolation")
		}
		if len(e.Named) > 0 && rapid.Bool().Draw(t, "against another") {
			a.Against = e.Named[0].Name
		}
		e.Named = append(e.Named, a)
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		w.Arms, w.Baseline = nil, rapid.SampledFrom(armNamesOf(e.Named)).Draw(t, "baseline")
	}
	if rapid.Bool().Draw(t, "sizes") {
		e.Sizes = []Size{{Name: "large", Settings: []Setting{{"budget", "2h"}, {"arms." + e.Named[0].Name + ".environment", "nat"}}}, {Name: "same"}}
	}
}

func TestYAMLGolden(t *testing.T) {
	golden(t, "testdata/two.annotated", string(validExperiment().Annotated(testWords())))
}

func TestObjective(t *testing.T) {
	for text, want := range map[string]string{"p99<=10ms": "p99<=10ms", "p95 <= 1s": "p95<=1s", "p99": "", "p12<=1s": "", "throughput<=1s": "", "p99<=10": "", "p99<=-1s": "", "p99>=1s": ""} {
		o, err := objective(text)
		if (err == nil) != (want != "") || err == nil && formatObjective(o) != want {
			t.Errorf("%s: %+v, %v, want %q", text, o, err, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		3 * time.Minute: "3m", 90 * time.Second: "1m30s", time.Hour: "1h", 1500 * time.Microsecond: "1.5ms", 90 * time.Minute: "1h30m", 10 * time.Second: "10s",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
	for x, want := range map[float64]string{0.01: "1%", 0.005: "0.5%", 0.1: "10%", 1.0 / 3: "0.3333333333333333", 0.007: "0.7%", 0.07: "7%"} {
		if got := formatRatio(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}
