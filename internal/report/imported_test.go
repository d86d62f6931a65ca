package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// importedRun is the figures of a published study of MySQL in Kubernetes (report
// lines of sysbench, one run per arm), and a load with five runs per arm that is
// decided.
func importedRun() *record.Effects {
	one := func(arm string, observed float64, within *record.Ratio) record.Effect {
		return record.Effect{Workload: "sysbench", Metric: "throughput", Arm: arm, Baseline: "host",
			Generations: 1, Observed: observed, Within: within, Reason: record.Say("one_run")}
	}
	p95 := one("container", 2.58, nil)
	p95.Metric, p95.Exploratory = "p95", true
	several := record.Effect{Workload: "hyperfine", Metric: "time", Arm: "container", Baseline: "host", P: new(0.0001), Adjusted: new(0.0001),
		Generations: 5, Verdict: record.Slower, Typical: ratio(6.4, 1.1), Total: ratio(6.4, 1.1), Own: ratio(6.4, 1.1)}
	arm := func(load, name string, runs int, values map[string]record.Value) record.ArmResult {
		return record.ArmResult{Workload: load, Arm: name, Title: record.Say("count_runs", "runs", runs), Values: values}
	}
	rates := func(tps, p95 float64) map[string]record.Value {
		return map[string]record.Value{"throughput": record.Number(tps), "p95": record.Number(p95)}
	}
	series := func(arm, file string, mean, lag1 float64, reports int) record.ImportedSeries {
		return record.ImportedSeries{Workload: "sysbench", Arm: arm, Metric: "throughput", File: file, Line: 1, Reports: reports,
			Seconds: float64(reports), Mean: record.Number(mean), Lag1: record.Number(lag1), Left: record.Missing(record.Say("few_reports"))}
	}
	long := series("guaranteed", "pod-guaranteed.log", 19389.78, 0.49, 600)
	long.Batches, long.BatchSize, long.Half = 40, 15, 0.021
	little := func(kind, text string) record.Checks { return record.Checks{Kind: kind, Text: record.InProse(text)} }
	return &record.Effects{
		Schema: record.EffectsSchema, Experiment: "import", Command: []string{"tare", "import", "host=host.log", "container=pod.log", "guaranteed=pod-guaranteed.log"},
		Started: "2026-11-21T16:27:00Z", Ended: "imported", Margin: 0.01,
		Imported: &record.Imported{Files: []record.ImportedFile{{Arm: "host", Path: "host.log", Kind: "sysbench", Era: "1.0 or 1.1"},
			{Arm: "container", Path: "pod.log", Kind: "sysbench", Era: "1.0 or 1.1"}, {Arm: "host", Path: "t.json", Kind: "hyperfine"}}},
		Caveats: []record.Warning{{Text: record.InProse("One run per arm, measured one after the other: a drift of the host looks like a loss."),
			Remedy: record.InProse("run each arm at least 3 times in turns and import all of it, or let tare run do it")},
			{Workload: "sysbench", Arm: "host", Text: record.InProse("host.log holds 3 report lines and no summary: it is unknown how they were chosen from the run."), Remedy: record.Say("import_whole_log")}},
		Arms: []record.ArmResult{arm("sysbench", "host", 1, rates(22128.67, 0.00263)), arm("sysbench", "container", 1, rates(12266, 0.00677)),
			arm("sysbench", "guaranteed", 1, rates(19389.78, 0.00438)),
			arm("hyperfine", "host", 5, map[string]record.Value{"time": record.Number(1.2)}),
			arm("hyperfine", "container", 5, map[string]record.Value{"time": record.Number(1.277)})},
		Effects: []record.Effect{one("container", 12266.00/22128.67, nil), one("guaranteed", 19389.78/22128.67, ratio(-12.4, 2.2)), p95, several},
		Single:  []record.ImportedSeries{series("host", "host.log", 22128.67, 0, 3), series("container", "pod.log", 12266, 0.53, 12), long},
		Workloads: []record.WorkloadResult{
			{Name: "sysbench", Title: record.Say("imported_together", "runs", 3, "seconds", 615), Primary: "throughput", Baseline: "host", Checks: []record.Checks{
				{Kind: "two levels", Known: true, Subject: "container", Text: record.InProse("the throughput of pod.log has two levels, 10896 and 19115; 17 % of the time it is at the upper one, with 2 changes between them"),
					Remedy: record.Say("find_levels")},
				little("outlier run", "fewer than four runs of an arm"),
				{Kind: "claims", Known: true, OK: true, Subject: "container", Text: record.InProse("a claim says that throughput of container changes by -44.6 %, and it does")}}},
			{Name: "hyperfine", Title: record.Say("imported_together", "runs", 10, "seconds", 12), Primary: "time", Baseline: "host",
				Values: []record.Metric{{Name: "time", Unit: "s", Better: -1}},
				Checks: []record.Checks{little("two levels", "fewer than ten reports on the way"), little("trend", "fewer than twenty reports on the way"),
					little("outlier run", "fewer than four runs of an arm")}},
		},
	}
}

// importedSource is what the page of importedRun shows beside the effects: a
// load whose reports have no time is counted.
func importedSource() (*record.Effects, Source) {
	e := importedRun()
	add := func(load, metric, unit, arm string, counted bool, values ...float64) {
		s := record.Series{Workload: load, Arm: arm, Metric: metric, Unit: unit, Counted: counted}
		for i, v := range values {
			s.Points = append(s.Points, record.Point{At: float64(i / 2), Value: v, Generation: i % 2, Block: i / 2})
		}
		e.Series = append(e.Series, s)
	}
	add("sysbench", "throughput", "1/s", "host", false, 22154, 22247, 21984)
	add("sysbench", "throughput", "1/s", "container", false, 10561, 10552, 10566, 20196, 18033)
	add("hyperfine", "time", "s", "host", true, 1.2, 1.21, 1.19, 1.2)
	add("hyperfine", "time", "s", "container", true, 1.27, 1.28, 1.29, 1.26)
	return e, Source{Plan: record.Plan{Experiment: "import"}, Manifest: record.Manifest{Tare: "v0.1.0", User: "dba"}}
}

// A page of imported figures says first what cannot be known, draws what was
// seen, and has no word of what only tare's own runs have.
func TestPageOfImported(t *testing.T) {
	e, source := importedSource()
	page := pageOf(t, e, source)
	checkPage(t, "imported", page)
	body := strings.ReplaceAll(page, pageStyle, "")
	for _, word := range []string{"window", "launch", "twin", "seed", "read back", "rung", "discard", "real runtime", ">beside<"} {
		if strings.Contains(strings.ToLower(body), word) {
			t.Errorf("the page speaks of %q: %.200s", word, body[strings.Index(strings.ToLower(body), word):])
		}
	}
	first := strings.Index(body, "a drift of the host looks like a loss")
	if chart := strings.Index(body, "<svg"); first < 0 || chart < first {
		t.Errorf("what cannot be known is at %d, the first picture at %d", first, chart)
	}
	for _, want := range []string{`class="mark"`, "-44.6 %", "-12.4 % (-14.6 to -10.2)", "every report"} {
		if !strings.Contains(body, want) && !strings.Contains(body, strings.ReplaceAll(want, " ", "\u00a0")) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
