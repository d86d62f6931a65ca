package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// A workload that had no time is named; its baseline, which stands for all its arms, is not.
func TestWorkloadsThatWereNotReached(t *testing.T) {
	e := fixtures()["rich"]
	w := e.Workloads[0]
	unmeasured(e, w.Name)
	e.Left = []record.Left{{Workload: w.Name, Arm: w.Baseline, Reason: record.InProse(record.LeftBudget)}}
	for _, verbose := range []bool{false, true} {
		var b strings.Builder
		if err := english.Text(&b, answered(e), Options{Width: 100, Verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		want := w.Name + " skipped: " + record.LeftBudget
		if !strings.Contains(b.String(), want) {
			t.Errorf("verbose %v: %q is not in\n%s", verbose, want, b.String())
		}
	}
}

// unmeasured takes all figures of a load out of a result.
func unmeasured(e *record.Effects, load string) {
	for _, list := range []*[]record.Effect{&e.Effects, &e.Steps, &e.Remainder, &e.Twin} {
		*list = slices.DeleteFunc(*list, func(x record.Effect) bool { return x.Workload == load })
	}
	e.Arms = slices.DeleteFunc(e.Arms, func(a record.ArmResult) bool { return a.Workload == load })
	for i := range e.Workloads {
		if e.Workloads[i].Name == load {
			e.Workloads[i].Blocks = 0
		}
	}
}
