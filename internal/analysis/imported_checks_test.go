package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// importedRun is an imported run with the given reports.
func importedRun(arm string, number int, bins []float64, load ...record.Setting) record.Observed {
	return record.Observed{Workload: "x", Arm: arm, Number: number, Tool: "pgbench", File: fmt.Sprintf("%s%d.log", arm, number), Complete: true, Load: load,
		Figures: []record.Figure{{Metric: "throughput", Total: record.Number(100), Mean: record.Number(100), Reports: len(bins), Bin: 1, Every: 1, Bins: bins}}}
}

func importedCheck(t *testing.T, kind string, runs ...record.Observed) record.Checks {
	t.Helper()
	r := &record.Result{Manifest: record.Manifest{Imported: &record.Imported{}}, Plan: record.Plan{Margin: 0.01, Workloads: []record.Workload{{Name: "x", Kind: "pgbench",
		Primary: "throughput", Metrics: []string{"throughput"}, Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: "pod"}}}}}}
	for i := range runs {
		r.Lines = append(r.Lines, record.Line{Observed: &runs[i]})
	}
	e, err := Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Workloads[0].Checks {
		if c.Kind == kind {
			return c
		}
	}
	t.Fatalf("no check %s in %+v", kind, e.Workloads)
	return record.Checks{}
}

// A check that passed has what was compared, and an undecided one has its reason.
func TestReasonsOfImportedChecks(t *testing.T) {
	clients := record.Setting{Name: "clients", Got: "8"}
	scale := record.Setting{Name: "scale", Got: "10"}
	level := func(n int, step float64) (out []float64) {
		for i := range n {
			out = append(out, 100+step*float64(i/(n/2+1)))
		}
		return out
	}
	for name, c := range map[string]struct {
		kind, want string
		known      bool
		runs       []record.Observed
	}{
		"the same settings":          {"settings", "the same in all arms: clients, scale", true, []record.Observed{importedRun("host", 0, nil, clients, scale), importedRun("pod", 0, nil, clients, scale)}},
		"one arm says none":          {"settings", "no setting is named by the outputs of two arms", false, []record.Observed{importedRun("host", 0, nil, clients), importedRun("pod", 0, nil)}},
		"no arm says any":            {"settings", "the outputs do not say under which settings", false, []record.Observed{importedRun("host", 0, nil), importedRun("pod", 0, nil)}},
		"few reports":                {"trend", "fewer than twenty reports on the way", false, []record.Observed{importedRun("host", 0, level(12, 0)), importedRun("pod", 0, nil)}},
		"reports that hang together": {"trend", "follow too closely", false, []record.Observed{importedRun("host", 0, level(24, 50)), importedRun("pod", 0, nil)}},
		"few runs":                   {"outlier run", "fewer than four runs of an arm", false, []record.Observed{importedRun("host", 0, nil), importedRun("pod", 0, nil)}},
	} {
		got := importedCheck(t, c.kind, c.runs...)
		if got.Known != c.known || got.OK != c.known || !strings.Contains(said.English(got.Text), c.want) {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

// A run that is nearer to the others than the margin is no outlier, however well the others agree.
func TestOutliersAreFar(t *testing.T) {
	for _, c := range []struct {
		last  float64
		found bool
	}{{100.4, false}, {99.6, false}, {103, true}, {60, true}} {
		var runs []record.Observed
		for i, x := range []float64{100, 100.01, 99.99, 100.02, 99.98, c.last} {
			for _, arm := range []string{"host", "pod"} {
				run := importedRun(arm, i, nil)
				run.Figures[0].Total, run.Figures[0].Mean = record.Number(x), record.Number(x)
				runs = append(runs, run)
			}
		}
		if got := importedCheck(t, "outlier run", runs...); got.OK == c.found {
			t.Errorf("%g: %+v", c.last, got)
		}
	}
}
