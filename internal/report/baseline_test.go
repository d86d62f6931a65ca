package report

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// A report says what the baseline runs as; one of an older result does not know.
func TestBaselineRunsAs(t *testing.T) {
	for as, want := range map[string]string{
		record.AsService: "host runs as a service of this host", record.AsSession: "host runs in a session of its own, in the control groups of tare",
		record.AsProcess: "host runs in a session of its own, in the root group", "": "",
	} {
		e := colocationRun()
		for i := range e.Arms {
			if e.Arms[i].Arm == e.Workloads[0].Baseline {
				e.Arms[i].Arm, e.Arms[i].RunsAs = "host", as
			}
		}
		e.Workloads[0].Baseline = "host"
		all := english.baselines(e)
		if want == "" && len(all) == 0 {
			continue
		}
		if len(all) != 1 || !strings.HasPrefix(all[0][0].text, want) {
			t.Errorf("as %q: %+v", as, all)
		}
	}
}
