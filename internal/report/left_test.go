package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// A workload that had no time is named; its baseline, which stands for all its arms, is not.
func TestWorkloadsThatWereNotReached(t *testing.T) {
	e := fixtures()["rich"]
	w := e.Workloads[0]
	e.Left = []record.Left{{Workload: w.Name, Arm: w.Baseline, Reason: record.LeftBudget}}
	for _, verbose := range []bool{false, true} {
		var b strings.Builder
		if err := Text(&b, answered(e), Options{Width: 100, Verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		want := "not reached  " + w.Name + " (budget)"
		if verbose {
			want = w.Name + ": " + record.LeftBudget
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("verbose %v: %q is not in\n%s", verbose, want, b.String())
		}
	}
}
