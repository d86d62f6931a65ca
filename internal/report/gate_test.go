package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

func someGate() *record.Gate {
	w := func(cost, low, high float64) *record.Worsening {
		return &record.Worsening{Cost: cost, Low: low, High: high}
	}
	return &record.Gate{
		Schema: record.GateSchema, Experiment: "quick", Seed: 7, Started: "2026-11-21T02:11:04.120Z", Ended: "budget",
		Host: plainHost(), Answer: record.AnswerExceeded, Needed: 320,
		Limits: []record.Limit{{Metric: "throughput", Most: 0.05}, {Metric: "p99", Most: 0.1}},
		Judgements: []record.Judgement{
			{Workload: "commit", Metric: "throughput", Arm: "cgroup", Baseline: "host", Answer: record.AnswerPass, Cost: w(0.003, -0.004, 0.011), Most: 0.05},
			{Workload: "commit", Metric: "throughput", Arm: "container", Baseline: "host", Cost: w(0.048, 0.021, 0.08), Most: 0.05,
				Reason: record.Say("limit_in_interval"), Needed: 320},
			{Workload: "rpc", Metric: "throughput", Arm: "container", Baseline: "host", Answer: record.AnswerExceeded, Cost: w(0.282, 0.117, 0.416), Most: 0.05, Total: true},
			{Workload: "rpc", Metric: "p99", Arm: "container", Baseline: "host", Most: 0.1, Reason: record.Say("few_beyond_quantile")},
			{Workload: "rpc", Metric: "p99", Arm: "nat", Baseline: "host", Answer: record.AnswerInvalid, Most: 0.1, Reason: record.Say("no_window")},
		},
		Left:     []record.Left{{Arm: "network", Reason: record.Say("user_cannot_connect"), Remedy: record.InProse("sudo tare run")}},
		Warnings: []record.Warning{{Workload: "rpc", Text: record.Say("one_launch"), Remedy: record.Say("longer_run")}},
	}
}

func someComparison() *record.Comparison {
	r := func(x, half float64) *record.Ratio { return &record.Ratio{Ratio: x, Low: x - half, High: x + half} }
	after := plainHost()
	after.Kernel = "6.19.1"
	return &record.Comparison{
		Schema: record.ComparisonSchema, Margin: 0.01, SameExperiment: true, SameHost: true,
		Before: record.Side{Dir: "before", Run: "aaaaaaaa", Experiment: "quick", Started: "2026-11-21T02:11:04Z", Ended: "budget", Seconds: 180, Seed: 7, Tare: "1.0", Host: plainHost()},
		After:  record.Side{Dir: "after", Run: "bbbbbbbb", Experiment: "quick", Started: "2026-11-22T02:11:04Z", Ended: "killed", Seconds: 121, Seed: 8, Tare: "1.0", Host: after},
		Differences: []record.Difference{
			{What: record.Property("kernel"), Before: "6.18.5", After: "6.19.1", Weight: record.WeightSetup},
			{What: record.Say("setting", "name", "seccomp"), Where: []string{"rpc/container", "rpc/security"}, Before: "filter", Weight: record.WeightSetup},
			{What: record.Property("seed"), Before: "7", After: "8", Weight: record.WeightNone},
		},
		Changes: []record.Change{
			{Workload: "rpc", Metric: "throughput", Primary: true, Arm: "cgroup", Baseline: "host", Before: r(0.996, 0.006), After: r(0.997, 0.005), Change: r(1.001, 0.007), Verdict: record.NoDifference},
			{Workload: "rpc", Metric: "throughput", Primary: true, Arm: "container", Baseline: "host", Before: r(0.86, 0.01), After: r(0.79, 0.02), Change: r(0.919, 0.026), Verdict: record.Slower, Subject: true},
			{Workload: "rpc", Metric: "throughput", Primary: true, Arm: "nat", Baseline: "host", Before: r(0.9, 0.01), Reason: record.Say("undecided_in_new", "why", record.Say("no_window"))},
			{Workload: "rpc", Metric: "p99", Arm: "container", Baseline: "host", Before: r(1.2, 0.1), After: r(1.1, 0.3), Change: r(0.917, 0.3), Exploratory: true},
		},
		Levels: []record.Level{
			{Workload: "rpc", Metric: "throughput", Unit: "1/s", Arm: "host", Before: record.Number(48210), After: record.Number(49100), Ratio: 1.01846},
			{Workload: "rpc", Metric: "p99", Unit: "s", Arm: "host", Before: record.Number(130e-6), After: record.Missing(record.InProse("too few"))},
		},
		Warnings: []record.Warning{{Workload: "rpc", Text: record.Say("of_old", "text", record.Say("one_launch")), Remedy: record.Say("longer_run")}},
	}
}

func TestGateAndComparisonGolden(t *testing.T) {
	g, c := someGate(), someComparison()
	for name, print := range map[string]func(io.Writer) error{
		"gate.100.txt":         func(w io.Writer) error { return Print(w, english.Gate(g), Options{}) },
		"gate.60.txt":          func(w io.Writer) error { return Print(w, english.Gate(g), Options{Width: 60}) },
		"gate.md":              func(w io.Writer) error { return PrintMarkdown(w, english.Gate(g)) },
		"gate.json":            func(w io.Writer) error { return export.Object(w, g) },
		"gate.junit.xml":       func(w io.Writer) error { return JUnit(w, g) },
		"comparison.100.txt":   func(w io.Writer) error { return Print(w, english.Comparison(c, false), Options{}) },
		"comparison.full.txt":  func(w io.Writer) error { return Print(w, english.Comparison(c, true), Options{}) },
		"comparison.60.txt":    func(w io.Writer) error { return Print(w, english.Comparison(c, false), Options{Width: 60}) },
		"comparison.color.txt": func(w io.Writer) error { return Print(w, english.Comparison(c, false), Options{Color: true}) },
		"comparison.md":        func(w io.Writer) error { return PrintMarkdown(w, english.Comparison(c, true)) },
		"comparison.json":      func(w io.Writer) error { return export.Object(w, c) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

// Whatever names and reasons hold, the JUnit report is XML whose counts are
// those of its cases, and no case passes that did not.
func TestJUnitCounts(t *testing.T) {
	type testCase struct {
		Failure *struct{} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct{} `xml:"skipped"`
	}
	type suite struct {
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	rapid.Check(t, func(t *rapid.T) {
		g := someGate()
		g.Experiment, g.Started = drawText().Draw(t, "experiment"), drawText().Draw(t, "started")
		counts := map[record.Answer]int{}
		for i := range g.Judgements {
			j := &g.Judgements[i]
			j.Answer = record.Answer(rapid.IntRange(-1, 5).Draw(t, "answer"))
			j.Arm, j.Reason, j.Workload = drawText().Draw(t, "arm"), record.InProse(drawText().Draw(t, "reason")), drawText().Draw(t, "workload")
			j.Needed = drawFloat().Draw(t, "needed")
			counts[j.Answer]++
		}
		var b bytes.Buffer
		if err := JUnit(&b, g); err != nil {
			t.Fatal(err)
		}
		var got struct {
			suite
			Suites []suite `xml:"testsuite"`
		}
		dec := xml.NewDecoder(strings.NewReader(b.String()))
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		tests, failures, errs := 0, 0, 0
		for _, s := range got.Suites {
			f, e := 0, 0
			for _, c := range s.Cases {
				if c.Failure != nil {
					f++
				}
				if c.Error != nil {
					e++
				}
			}
			if s.Tests != len(s.Cases) || s.Failures != f || s.Errors != e {
				t.Fatalf("a suite says %d, %d, %d of %d cases, %d failures, %d errors", s.Tests, s.Failures, s.Errors, len(s.Cases), f, e)
			}
			tests, failures, errs = tests+s.Tests, failures+f, errs+e
		}
		if got.Tests != tests || got.Failures != failures || got.Errors != errs || tests != len(g.Judgements) ||
			failures != counts[record.AnswerExceeded] || tests-failures-errs != counts[record.AnswerPass] {
			t.Fatalf("%d, %d, %d in all; answers %v", got.Tests, got.Failures, got.Errors, counts)
		}
	})
}
