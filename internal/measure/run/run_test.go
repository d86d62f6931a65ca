package run_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/agent"
	onhost "github.com/tarelab/tare/internal/arms/beside"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/record"
)

// TestMain makes the test binary behave as tare inside the arms.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		if code, ok := hidden.Run(slices.Concat(launch.Roles(), agent.Roles()), os.Args[1:]); ok {
			os.Exit(code)
		}
		switch os.Args[1] {
		case load.Command:
			os.Exit(bodies.Main(os.Args[2:]))
		case serve.Command:
			os.Exit(serve.Main(os.Args[2:]))
		case serve.PrepareCommand:
			os.Exit(serve.PrepareMain(os.Args[2:]))
		case allowedCommand:
			os.Exit(allowedMain())
		case launch.GuardCommand:
			os.Exit(launch.GuardMain(steps.Kinds()))
		}
	}
	os.Exit(m.Run())
}

func catalog(rungs ...plan.Rung) plan.Catalog {
	return plan.Catalog{
		Rungs: rungs, Beside: onhost.Host{},
		Workload: func(string) (workload.Workload, bool) { return workload.Spin{}, true },
	}
}

func spinExperiment(budget time.Duration) *experiment.Experiment {
	return &experiment.Experiment{
		Name: "test", Budget: budget, Precision: 0.001, Margin: 0.01, Seed: 1, Volume: "layer",
		Workloads: []experiment.Workload{{Name: "spin", Kind: "spin", Share: 1}},
	}
}

// idOf returns the run's id: the name of the test and the pid of this process, so that the test
// does not meet directories that a killed process left.
func idOf(t *testing.T) string {
	return strings.ReplaceAll(strings.ToLower(t.Name()), "/", "") + strconv.Itoa(os.Getpid())
}

// execute builds and runs an experiment and reads its record back.
func execute(ctx context.Context, t *testing.T, e *experiment.Experiment, c plan.Catalog) (*record.Result, run.Outcome, error) {
	t.Helper()
	return executeDeciding(ctx, t, e, c, func(record.Workload, []record.Line) run.Decision { return run.Decision{} })
}

func executeDeciding(ctx context.Context, t *testing.T, e *experiment.Experiment, c plan.Catalog, decide func(record.Workload, []record.Line) run.Decision) (*record.Result, run.Outcome, error) {
	t.Helper()
	return executeWith(ctx, t, e, c, decide, nil)
}

// executeShowing is execute with a function that sees the progress.
func executeShowing(ctx context.Context, t *testing.T, e *experiment.Experiment, c plan.Catalog, progress func(run.Event)) (*record.Result, run.Outcome, error) {
	t.Helper()
	return executeWith(ctx, t, e, c, func(record.Workload, []record.Line) run.Decision { return run.Decision{} }, progress)
}

func executeWith(ctx context.Context, t *testing.T, e *experiment.Experiment, c plan.Catalog, decide func(record.Workload, []record.Line) run.Decision, progress func(run.Event)) (*record.Result, run.Outcome, error) {
	t.Helper()
	host := inspect.Host("/")
	host.Volumes = volume.Supports(host, e.Volumes()...)
	p, err := plan.Build(e, c, host, []string{"tare", "run"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/result"
	out, err := run.Execute(ctx, run.Config{
		ID: idOf(t), Plan: p, Dir: dir, StateDir: t.TempDir(), Groups: host.Groups,
		Probes: probe.All(),
		Decide: decide, Progress: progress,
	})
	r, rerr := record.Read(dir)
	if rerr != nil {
		t.Fatal(rerr)
	}
	return r, out, err
}

// A run on the real kernel: its blocks are complete and in random order, its windows have the
// length that the pilot chose, and its control groups are removed.
func TestSpinUnderTwoRungs(t *testing.T) {
	testneed.Root(t)
	c := catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: layers.Cgroup, On: "host"})
	r, out, err := execute(context.Background(), t, spinExperiment(12*time.Second), c)
	if err != nil || out.Reason != "budget" {
		t.Fatalf("run ended by %q: %v", out.Reason, err)
	}
	var pilot *record.Pilot
	orders := map[string]int{}
	blocks := 0
	for _, l := range r.Lines {
		if l.Pilot != nil {
			pilot = l.Pilot
		}
		if l.Block == nil {
			continue
		}
		blocks++
		var names []string
		for _, w := range l.Block.Windows {
			names = append(names, w.Arm)
			if w.Dropped != "" || w.Seconds < pilot.Window { // on a busy host one may have done nothing
				t.Errorf("window %+v", w)
			}
			// In a third of the blocks the middle of short windows is marked, in all arms alike.
			if marked := pilot.Window >= 0.05 || l.Block.Number/2%3 == 0; (w.FirstSeconds > 0) != marked || w.FirstSeconds >= w.Seconds {
				t.Errorf("block %d: the middle of %s is at %g s", l.Block.Number, w.Arm, w.FirstSeconds)
			}
		}
		if len(names) != 3 {
			t.Errorf("block %d of generation %d has the windows %v", l.Block.Number, l.Block.Generation, names)
		}
		orders[strings.Join(names, " ")]++
	}
	if pilot == nil || pilot.Why.IsZero() || blocks < 3 || blocks >= 6 && len(orders) < 2 {
		t.Errorf("pilot %+v, %d blocks in the orders %v", pilot, blocks, orders)
	}
	e, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Effects) != len(r.Plan.Workloads[0].Metrics) || e.Arms[0].Values["throughput"].String() == "0" {
		t.Errorf("effects %+v", e.Effects)
	}
	t.Logf("pilot: %s", pilot.Why)
	for _, x := range append(e.Effects[:1], e.Twin[:1]...) {
		t.Logf("%s %s %+v %v", x.Arm, x.Metric, x.Typical, x.Verdict)
	}
	t.Logf("self: %+v", e.Self)
}

// A cancelled run keeps its record, which says that it was cancelled.
func TestCancelledRun(t *testing.T) {
	testneed.Root(t)
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
	defer stop()
	c := catalog(plan.Rung{Environment: layers.Host})
	r, out, err := execute(ctx, t, spinExperiment(time.Minute), c)
	if out.Reason != "interrupted" || err == nil {
		t.Fatalf("ended by %q, %v", out.Reason, err)
	}
	last := r.Lines[len(r.Lines)-1]
	if last.End == nil || last.End.Reason != "interrupted" {
		t.Errorf("last line %+v", last)
	}
}

// A failed transparency check doubles the window: measuring begins again, and the record says so.
func TestLengthenedWindow(t *testing.T) {
	testneed.Root(t)
	asked := false
	decide := func(record.Workload, []record.Line) run.Decision {
		first := !asked
		asked = true
		return run.Decision{Lengthen: first, Why: record.InProse("rotated is not steady")}
	}
	e := spinExperiment(20 * time.Second)
	e.Window = 100 * time.Millisecond // on a busy host the pilot takes one too long to double
	r, _, err := executeDeciding(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}), decide)
	if err != nil {
		t.Fatal(err)
	}
	var windows []float64
	warned := false
	for _, l := range r.Lines {
		if l.Pilot != nil {
			windows = append(windows, l.Pilot.Window)
		}
		warned = warned || l.Warning != nil && strings.Contains(said.English(l.Warning.Text), "rotated is not steady") && !l.Warning.Remedy.IsZero()
	}
	if len(windows) != 2 || windows[1] != 2*windows[0] || !warned {
		t.Fatalf("windows %v, warned %v", windows, warned)
	}
	effects, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	if w := effects.Workloads[0]; w.Blocks == 0 || w.Pilot.Window != windows[1] {
		t.Errorf("analysed %d blocks with the window %v", w.Blocks, w.Pilot.Window)
	}
}

// A run ends as soon as its precision is reached.
func TestStopsOnDecision(t *testing.T) {
	testneed.Root(t)
	decide := func(record.Workload, []record.Line) run.Decision { return run.Decision{Stop: true} }
	e := spinExperiment(time.Minute)
	e.Window = 50 * time.Millisecond // a pilot may choose one so long that no visit comes first
	r, out, err := executeDeciding(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}), decide)
	if err != nil || out.Reason != "precision" {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	windows := 0
	for _, l := range r.Lines {
		if l.Block != nil {
			windows += len(l.Block.Windows)
		}
	}
	// Each arm is visited once before a window counts.
	if last := r.Lines[len(r.Lines)-1]; last.End == nil || last.End.Self.Switches <= windows || last.End.Self.MaxRSS == 0 {
		t.Errorf("last line %+v, %d windows", last.End, windows)
	}
}
