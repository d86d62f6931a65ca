package report

import (
	"bytes"
	"testing"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// TestRealGolden prints what the analysis makes of a real record: a short run of quick with few
// blocks left in it, in which some intervals are withheld.
func TestRealGolden(t *testing.T) {
	r, err := record.Scan("../../record/testdata/quick")
	if err != nil {
		t.Fatal(err)
	}
	e, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	for form, print := range map[string]func(*bytes.Buffer) error{
		"short.txt":   func(b *bytes.Buffer) error { return english.Text(b, e, Options{Dir: "r"}) },
		"80.txt":      func(b *bytes.Buffer) error { return english.Text(b, e, Options{Width: 80}) },
		"100.txt":     func(b *bytes.Buffer) error { return english.Text(b, e, Options{Verbose: true}) },
		"md":          func(b *bytes.Buffer) error { return english.Markdown(b, e, nil) },
		"csv":         func(b *bytes.Buffer) error { return export.CSV(b, e) },
		"openmetrics": func(b *bytes.Buffer) error { return export.OpenMetrics(b, e) },
	} {
		t.Run(form, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, "real."+form, b.Bytes())
		})
	}
}

// The words of the fixtures are those of a plan: its arms and loads, and what it says of them.
func TestFixturesSayWhatPlansSay(t *testing.T) {
	arms := map[string]record.Said{plan.TwinName: record.Say("arm_again", "arm", "host")}
	for _, r := range catalog.Rungs(nil) {
		arms[r.Name()] = r.Title()
	}
	loads := map[record.Said]bool{}
	for _, w := range catalog.Workloads() {
		loads[w.Title()] = true
	}
	for name, e := range map[string]*record.Effects{"rich": richRun(), "user": userRun(), "killed": killedRun(), "hopeless": hopelessRun()} {
		for _, a := range e.Arms {
			if arms[a.Arm] != a.Title {
				t.Errorf("%s: arm %s is %v, of a plan %v", name, a.Arm, a.Title, arms[a.Arm])
			}
		}
		for _, w := range e.Workloads {
			if !loads[w.Title] {
				t.Errorf("%s: no load of a plan is %v", name, w.Title)
			}
		}
	}
}
