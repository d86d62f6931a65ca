package main

import (
	"bufio"
	"encoding/json"
	"errors"
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
			f.run("60s", true)
			held, warned := 0, 0
			for range runs {
				least := f.least()
				if n, _ := f.run(strconv.Itoa(least)+"s", true); n >= metric.LeastLaunches {
					held++
				}
				half := f.least() / 2
				n, said := f.run(strconv.Itoa(half)+"s", false)
				if said || n >= metric.LeastLaunches {
					warned++
				}
				t.Logf("%s: %d s sufficed so far in %d runs; of %d s it said beforehand that they are too few: %v", preset, least, held, half, said)
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

func (f foretold) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"))
	return cmd
}

// least is the least budget with a verdict that tare plan names, in seconds.
func (f foretold) least() int {
	f.t.Helper()
	out, err := f.command("plan", f.preset, "--format", "json").Output()
	var p struct {
		Least *float64 `json:"least_deciding_seconds"`
	}
	if err := errors.Join(err, json.Unmarshal(out, &p)); err != nil || p.Least == nil {
		f.t.Fatalf("no least budget: %v", err)
	}
	return int(*p.Least)
}

// run returns the fewest launches of an arm in a run, and whether it said before it began that they are too few: unless
// whole, such a run is ended then.
func (f foretold) run(budget string, whole bool) (launches int, said bool) {
	f.t.Helper()
	dir := filepath.Join(f.dir, "r")
	defer os.RemoveAll(dir)
	cmd := f.command("run", f.preset, "--budget", budget, "-o", dir, "--progress", "plain")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if said {
			continue
		}
		if said = !whole && strings.Contains(lines.Text(), "too short for verdicts"); said {
			err = cmd.Process.Signal(os.Interrupt)
		}
	}
	if ended := cmd.Wait(); said {
		return 0, true
	} else if err != nil || ended != nil {
		f.t.Fatalf("tare run %s --budget %s: %v, %v\n%s", f.preset, budget, err, ended, all.String())
	}
	return f.launches(dir), false
}

// launches are the fewest launches of an arm in a result. The arms of a ladder that was not asked for, because no loss was
// shown, have none.
func (f foretold) launches(dir string) int {
	f.t.Helper()
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
	fewest := metric.LeastLaunches
	for _, w := range r.Plan.Workloads {
		for _, a := range w.Arms {
			n := len(made[w.Name+"/"+a.Name])
			if asked := w.Question == "" || a.Twin || a.Name == w.Question || a.Name == w.Baseline; n > 0 || asked {
				fewest = min(fewest, n)
			}
		}
	}
	return fewest
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
