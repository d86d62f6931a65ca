package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// moody is a result of which one arm has two modes.
func moody() *record.Effects {
	e := &record.Effects{Margin: 0.02,
		Workloads: []record.WorkloadResult{{Name: "db", Primary: "throughput", Baseline: "host", Blocks: 60}},
		Arms: []record.ArmResult{
			{Workload: "db", Arm: "host", Windows: 60, Values: map[string]record.Value{"throughput": record.Number(20000)}},
			{Workload: "db", Arm: "besteffort", Windows: 60, Values: map[string]record.Value{"throughput": record.Number(13000)}},
		},
		Effects: []record.Effect{{Workload: "db", Arm: "besteffort", Metric: "throughput", Baseline: "host", Verdict: record.Slower,
			Typical: &record.Ratio{Ratio: 0.65, Low: 0.6, High: 0.7}}},
		Modes: []record.ArmModes{
			{Workload: "db", Arm: "host", Metric: "throughput", Unit: "1/s", Windows: 60, Detectable: 0.25},
			{Workload: "db", Arm: "besteffort", Metric: "throughput", Unit: "1/s", Windows: 60, Apart: 0.5,
				Modes: &record.Modes{Low: 10560, High: 20190, Share: 0.25, Switches: 8},
				Differ: []record.ModeDifference{{Metric: "cpu.wait", Unit: "s", Per: "second", Slow: 1.2, Fast: 0.1, P: 0.0001,
					Text: record.InProse("its threads waited 1.2 s a second for a CPU (100 ms in the faster)")}}},
		},
		Self: record.Self{CPURatio: 0.01, Switches: 240, SwitchMedian: 0.002, SwitchP99: 0.01,
			Pods: &record.Switches{Median: 0.003, P99: 0.02, Count: 60}},
	}
	return e
}

// told is the report for a terminal, as one line.
func told(t *testing.T, e *record.Effects, width int) string {
	t.Helper()
	var b strings.Builder
	if err := english.Text(&b, answered(e), Options{Width: width, Verbose: true}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Two modes are said in the headline, and with their numbers below, in the
// terminal and on the page.
func TestTwoModesAreTold(t *testing.T) {
	var page strings.Builder
	if err := english.HTML(&page, answered(moody()), Source{}); err != nil {
		t.Fatal(err)
	}
	text := told(t, moody(), 100)
	for _, want := range []string{
		"slower: two speeds",
		"10.6k/s in 75 % of its 60 windows and 20.2k/s in the others, with 8 changes between them",
		"the two are 100 % apart",
		"In the slower one its threads waited 1.2 s a second for a CPU (100 ms in the faster).",
		"of arms in pods 3 ms in the median, 20 ms at p99 (60 switches)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(page.String(), "two speeds") || !strings.Contains(page.String(), "waited 1.2") {
		t.Error("the page does not say it")
	}
	e := moody()
	e.Modes[1].Modes, e.Modes[1].Detectable, e.Modes[1].Differ = nil, 0.3, nil
	text = told(t, e, 100)
	if !strings.Contains(text, "No arm shows two modes over time; levels 30 % apart or more would have shown.") {
		t.Errorf("%s", text)
	}
	e.Modes[1].Detectable = 0.6
	if text = told(t, e, 100); !strings.Contains(text, "but not in besteffort, whose windows scatter too much") {
		t.Errorf("%s", text)
	}
	e.Modes[0].Detectable = 0.6
	if text = told(t, e, 100); !strings.Contains(text, "Two modes over time: undecided, the windows scatter too much.") {
		t.Errorf("%s", text)
	}
}

// A busy node: what each arm loses against itself alone is told once, behind the
// arms alone.
func TestBusyNodeIsTold(t *testing.T) {
	e := moody()
	e.Modes = nil
	e.Effects = append(e.Effects, record.Effect{Workload: "db", Arm: "besteffort-busy", Metric: "throughput", Baseline: "host", Verdict: record.Slower,
		Typical: &record.Ratio{Ratio: 0.3, Low: 0.28, High: 0.32}})
	e.Arms = append(e.Arms, record.ArmResult{Workload: "db", Arm: "besteffort-busy", Windows: 60})
	e.Prices = []record.Price{{Workload: "db", Neighbour: record.Neighbour{Name: "batch", Environment: "besteffort", Work: record.NeighbourOps, Unit: "1/s"},
		Alone: "besteffort", Unprotected: "besteffort-busy", Primary: "throughput", Metrics: []string{"throughput"},
		Rows: []record.PriceRow{{Arm: "besteffort-busy", Environment: "besteffort", Alone: "besteffort", Work: record.Number(1000),
			Back: []record.Regained{{Metric: "throughput", Effect: &record.Effect{Typical: &record.Ratio{Ratio: 0.46, Low: 0.43, High: 0.49}}}}}},
	}}
	text := told(t, e, 120)
	for _, want := range []string{
		"db in pods, alone and beside batch", "besteffort -35.0 % ±5.0* -70.0 % ±2.0* slower",
		"db beside batch (besteffort)", "throughput against alone",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "besteffort-busy slower") {
		t.Errorf("told twice: %s", text)
	}
	var page strings.Builder
	if err := english.HTML(&page, answered(e), Source{}); err != nil || !strings.Contains(page.String(), "alone and beside batch") {
		t.Errorf("%v", err)
	}
}
