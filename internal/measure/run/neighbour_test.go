package run_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// beside is an experiment of arithmetic alone, beside a neighbour, and beside one with isolation.
func beside(kind workload.Workload, params map[string]string, budget time.Duration) (*experiment.Experiment, plan.Catalog) {
	e := spinExperiment(budget)
	e.Generations, e.Window = 1, 200*time.Millisecond
	e.Neighbours = []experiment.Neighbour{{Name: "other", Kind: kind.Name(), Params: params, Memory: 512 << 20, Pids: 512}}
	e.Named = []experiment.ArmSpec{
		{Name: "alone", Environment: "cgroup"},
		{Name: "none", Environment: "cgroup", Neighbour: "other"},
		{Name: "idle", Environment: "cgroup", Neighbour: "other", Isolation: []string{"cpu.idle"}},
	}
	e.Workloads[0].Baseline = "alone"
	c := catalog(plan.Rung{Environment: layers.Cgroup})
	c.Neighbour = func(string) (workload.Workload, bool) { return kind, true }
	return e, c
}

// looked is what the kernel says of a neighbour's processes.
type looked struct{ processes, wrong []string }

// look reads the status of every process in the control groups of a run's neighbours.
func look(id string) (l looked) {
	files, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, f := range files {
		groups, err := os.ReadFile(f)
		if err != nil || !regexp.MustCompile(`/tare-`+id+`-\w+\.neighbour\n`).Match(groups) {
			continue
		}
		dir := filepath.Dir(f)
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		limits, _ := os.ReadFile(filepath.Join(dir, "limits"))
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || len(limits) == 0 {
			continue // gone meanwhile
		}
		l.processes = append(l.processes, strings.TrimSpace(string(name)))
		for _, want := range []string{
			`(?m)^Uid:\s+65534\s+65534\s+65534\s+65534$`, `(?m)^Gid:\s+65534\s+65534\s+65534\s+65534$`, `(?m)^Groups:\s*$`,
			`(?m)^CapPrm:\s+0+$`, `(?m)^CapEff:\s+0+$`, `(?m)^NoNewPrivs:\s+1$`, `(?m)^Max cpu time\s+\d+`,
		} {
			if !regexp.MustCompile(want).Match(append(status, limits...)) {
				l.wrong = append(l.wrong, string(name)+": no "+want)
			}
		}
	}
	return l
}

// executeLooking executes an experiment, and looks at the neighbour's processes between windows
// once they work.
func executeLooking(t *testing.T, e *experiment.Experiment, c plan.Catalog) (*record.Result, looked) {
	t.Helper()
	var seen looked
	r, out, err := executeShowing(context.Background(), t, e, c, func(ev run.Event) {
		if ev.Phase == "measure" && len(seen.processes) == 0 {
			seen = look(idOf(t))
		}
	})
	if err != nil {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	return r, seen
}

// worked adds up what the neighbour did beside an arm.
func worked(t *testing.T, r *record.Result, arm string) (work float64) {
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Arm != arm {
				continue
			}
			x, ok := w.Neighbour[r.Plan.Workloads[0].Neighbours[0].Work].Get()
			if !ok {
				t.Errorf("%s: the neighbour's work is missing: %+v", arm, w.Neighbour)
			}
			work += x
		}
	}
	return work
}

func gotten(r *record.Result, arm string) map[string]string {
	got := map[string]string{}
	for _, s := range r.Manifest.Settings["spin/"+arm] {
		got[s.Name] = s.Got
	}
	return got
}

// noGroupLeft fails if a control group of the run exists.
func noGroupLeft(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/tare-", "/sys/fs/cgroup/*/tare-"} {
		if left, _ := filepath.Glob(pattern + idOf(t) + "*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A neighbour runs as nobody, without privileges and within its limits. What it does is recorded
// with its own arms only.
func TestNeighbour(t *testing.T) {
	testneed.Root(t)
	e, c := beside(workload.Spin{}, map[string]string{"threads": "2"}, 8*time.Second)
	r, seen := executeLooking(t, e, c)
	if len(seen.processes) == 0 || len(seen.wrong) > 0 {
		t.Errorf("processes %v: %v", seen.processes, seen.wrong)
	}
	got := gotten(r, "idle")
	if got["neighbour.memory.limit"] != "536870912" || got["neighbour.pids.limit"] != "512" || got["neighbour.cpu.idle"] != "1" {
		t.Errorf("read back: %v", got)
	}
	if got := gotten(r, "none"); got["neighbour.cpu.idle"] != "" {
		t.Errorf("without isolation, read back: %v", got)
	}
	if mine, its := got["autogroup"], got["neighbour.autogroup"]; mine != "" && mine == its {
		t.Errorf("arm and neighbour are in the autogroup %s", mine)
	}
	if mine, its := got["cpu.cgroup"], got["neighbour.cpu.cgroup"]; mine == its || its == "/" {
		t.Errorf("groups: the arm competes for CPUs in %s, its neighbour in %s", mine, its)
	}
	if worked(t, r, "none") == 0 {
		t.Error("the neighbour did nothing")
	}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Arm == "alone" && len(w.Neighbour) > 0 {
				t.Errorf("alone has a neighbour: %v", w.Neighbour)
			}
		}
	}
	noGroupLeft(t)
}

// The neighbour is a database: MariaDB with sysbench, and PostgreSQL with pgbench, each as nobody
// on a copy of its data set.
func TestNeighbourDatabase(t *testing.T) {
	testneed.Root(t)
	for _, d := range []struct {
		kind   workload.Workload
		params map[string]string
		needs  []string
		server string
	}{
		{sysbench.Workload{}, map[string]string{"tables": "1", "size": "1000", "threads": "2", "buffer_pool": "32M"}, []string{"mariadbd", "sysbench"}, "mariadbd"},
		{pgbench.Workload{}, map[string]string{"scale": "1", "clients": "2"}, []string{"psql"}, "postgres"},
	} {
		t.Run(d.kind.Name(), func(t *testing.T) {
			for _, tool := range d.needs {
				testneed.Tool(t, tool)
			}
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			e, c := beside(workload.Beside{Workload: d.kind}, d.params, 15*time.Second)
			r, seen := executeLooking(t, e, c)
			if !slices.Contains(seen.processes, d.server) || len(seen.wrong) > 0 {
				t.Errorf("processes %v: %v", seen.processes, seen.wrong)
			}
			if worked(t, r, "none") == 0 {
				t.Error("the neighbour did nothing")
			}
			if got := gotten(r, "none"); got["neighbour.transport"] != "socket" {
				t.Errorf("read back: %v", got)
			}
			noGroupLeft(t)
		})
	}
}

// If the out-of-memory killer ends a neighbour in a window, that window is dropped with the reason,
// and the arm without a neighbour goes on.
func TestNeighbourKilledByItsLimit(t *testing.T) {
	testneed.Root(t)
	// The neighbour waits until blocks are measured, then takes more memory than its limit.
	begun := filepath.Join(t.TempDir(), "begun")
	if err := os.Chmod(filepath.Dir(filepath.Dir(begun)), 0o755); err != nil { // the neighbour is nobody
		t.Fatal(err)
	}
	e, c := beside(workload.CommandNoise{}, map[string]string{
		"command": "sh -c 'until [ -e " + begun + " ]; do sleep 0.1; done; head -c 200m /dev/zero | tail'",
	}, 18*time.Second)
	e.Neighbours[0].Memory = 32 << 20
	r, out, err := executeShowing(context.Background(), t, e, c, func(ev run.Event) {
		if ev.Phase == "measure" && ev.Block > 0 { // not in the windows that warm the arms
			if err := os.WriteFile(begun, nil, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	dropped, after := "", 0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			switch {
			case w.Dropped != "":
				dropped += w.Dropped + ": " + w.Detail + "\n"
			case dropped != "":
				after++
			}
		}
	}
	if !strings.Contains(dropped, record.DropNeighbour) || !strings.Contains(dropped, "memory limit is 33554432 bytes") {
		t.Errorf("dropped: %q", dropped)
	}
	if after == 0 {
		t.Error("nothing was measured afterwards")
	}
	warned := ""
	for _, l := range r.Lines {
		if l.Warning != nil {
			warned += l.Warning.Arm + ": " + said.English(l.Warning.Text) + " / " + said.English(l.Warning.Remedy) + "\n"
		}
	}
	if !strings.Contains(warned, "none: ") || !strings.Contains(warned, "neighbours.other.memory") {
		t.Errorf("warned: %q", warned)
	}
	noGroupLeft(t)
}

// If a neighbour never starts, its arms are left out, and the reason has the neighbour's output.
func TestNeighbourThatDoesNotStart(t *testing.T) {
	testneed.Root(t)
	e, c := beside(workload.CommandNoise{}, map[string]string{"command": "no-such-program"}, 4*time.Second)
	e.Named = append(e.Named, experiment.ArmSpec{Name: "quiet", Environment: "cgroup", Options: record.Options{CPUs: 1}}) // without it there is nothing to compare
	r, out, err := executeShowing(context.Background(), t, e, c, nil)
	if err != nil {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	for _, arm := range []string{"none", "idle"} {
		if i := slices.IndexFunc(r.Manifest.Left, func(l record.Left) bool { return l.Arm == arm }); i < 0 || !strings.Contains(said.English(r.Manifest.Left[i].Reason), "no-such-program") {
			t.Errorf("left out: %+v", r.Manifest.Left)
		}
	}
	noGroupLeft(t)
}

// asPod is an environment whose capabilities are those of a pod.
type asPod struct{ environment.Environment }

func (p asPod) Capabilities() environment.Capabilities {
	can := p.Environment.Capabilities()
	can.Pod = true
	return can
}

// A neighbour in an environment of its own is thawed with its arm and frozen between windows, and
// its environment is read back. A control group stands in for the pod.
func TestNeighbourElsewhere(t *testing.T) {
	testneed.Root(t)
	e, c := beside(workload.Spin{}, map[string]string{"threads": "2"}, 8*time.Second)
	e.Neighbours[0].Environment = "cgroup"
	e.Named = e.Named[:2]
	c.Rungs[len(c.Rungs)-1].Environment = asPod{layers.Cgroup}
	r, out, err := executeShowing(context.Background(), t, e, c, nil)
	if err != nil {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	if len(r.Manifest.Left) > 0 {
		t.Fatalf("left out: %+v", r.Manifest.Left)
	}
	if worked(t, r, "none") == 0 {
		t.Error("the neighbour did nothing")
	}
	rate := map[string]float64{}
	blocks := 0.0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		blocks++
		for _, w := range l.Block.Windows {
			rate[w.Arm] += w.Rate()
			if w.Arm == "alone" && len(w.Neighbour) > 0 {
				t.Errorf("alone has a neighbour: %v", w.Neighbour)
			}
		}
	}
	t.Logf("in %v blocks: %v", blocks, rate)
	if got := gotten(r, "none"); !strings.HasSuffix(got["neighbour.cgroup"], "alone.neighbour") {
		t.Errorf("read back: %v", got)
	}
	if a := r.Plan.Workloads[0].Neighbours[0]; a.Environment != "cgroup" {
		t.Errorf("%+v", a)
	}
	noGroupLeft(t)
}
