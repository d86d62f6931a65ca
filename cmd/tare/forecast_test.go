package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// TestForecast: after one run of a preset, TARETEST_RUNS further ones with the least budget that tare plan names before each
// have the launches that a verdict needs in at least half of the cases, and one whose budget is half of that says before it
// begins that it has too few. How often each held is logged.
func TestForecast(t *testing.T) {
	testneed.Long(t, "forecast")
	runs, err := strconv.Atoi(setting("TARETEST_RUNS", "10"))
	if err != nil {
		t.Fatal(err)
	}
	for _, preset := range strings.Fields(setting("TARETEST_PRESETS", "quick mysql-layers postgres-layers redis-layers")) {
		t.Run(preset, func(t *testing.T) {
			f := foretold{t, preset, t.TempDir()}
			f.run("60s")
			held, warned := 0, 0
			for range runs {
				least := f.least()
				if n, _ := f.run(strconv.Itoa(least) + "s"); n >= metric.LeastLaunches {
					held++
				}
				if n, said := f.run(strconv.Itoa(f.least()/2) + "s"); said || n >= metric.LeastLaunches {
					warned++
				}
				t.Logf("%s: a budget of %d s", preset, least)
			}
			t.Logf("%s: %d of %d least budgets sufficed; %d of %d runs with too few launches said so before", preset, held, runs, warned, runs)
			if 2*held < runs || warned < runs {
				t.Errorf("%d and %d of %d", held, warned, runs)
			}
		})
	}
}

// foretold plans and runs one preset with a cache of its own.
type foretold struct {
	t           *testing.T
	preset, dir string
}

func (f foretold) tare(args ...string) (stdout []byte, stderr string) {
	f.t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("tare %q: %v\n%s", args, err, said.String())
	}
	return out, said.String()
}

// least is the least budget with a verdict that tare plan names, in seconds.
func (f foretold) least() int {
	f.t.Helper()
	out, _ := f.tare("plan", f.preset, "--format", "json")
	var p struct {
		Least *float64 `json:"least_deciding_seconds"`
	}
	if err := json.Unmarshal(out, &p); err != nil || p.Least == nil {
		f.t.Fatalf("no least budget: %v", err)
	}
	return int(*p.Least)
}

// run returns the fewest launches of an arm in a run, and whether it said before it began that they are too few.
func (f foretold) run(budget string) (launches int, said bool) {
	f.t.Helper()
	dir := filepath.Join(f.dir, "r")
	defer os.RemoveAll(dir)
	_, stderr := f.tare("run", f.preset, "--budget", budget, "-o", dir, "--progress", "plain")
	before, _, _ := strings.Cut(stderr, "preparing the data")
	r, err := record.Read(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	made := map[string]map[int]bool{} // by load and arm
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			key := l.Block.Workload + "/" + w.Arm
			if made[key] == nil {
				made[key] = map[int]bool{}
			}
			made[key][l.Block.Generation] = made[key][l.Block.Generation] || w.Dropped == ""
		}
	}
	launches = metric.LeastLaunches
	for _, w := range r.Plan.Workloads {
		for _, a := range w.Arms {
			launches = min(launches, len(made[w.Name+"/"+a.Name]))
		}
	}
	return launches, strings.Contains(before, "too short for verdicts")
}

// TestForecastOfDoctor: where no run is known tare doctor foretells nothing, also in JSON.
func TestForecastOfDoctor(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "__cli", "doctor", "--format", "json")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Noise    map[string]json.RawMessage
		Expected *json.RawMessage
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if a.Noise["neighbour_sd"] == nil || a.Expected != nil {
		t.Errorf("%s", out)
	}
}
