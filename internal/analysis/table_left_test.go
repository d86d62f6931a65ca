package analysis

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// An arm without windows has the reason why its last launch failed, in one line.
func TestReasonOfFailedLaunch(t *testing.T) {
	load := record.Workload{Name: "db", Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: "pod"}}}
	x := tabulate(load, 0, []record.Line{
		{Generation: &record.Generation{Workload: "db", Left: []record.Left{{Arm: "pod", Reason: record.InProse("open pod: early")}}}},
		{Generation: &record.Generation{Workload: "db", Number: 1, Left: []record.Left{{Arm: "pod", Reason: record.InProse("open pod: copy the data set: no such file\nsecond line")}}}},
		{Generation: &record.Generation{Workload: "other", Left: []record.Left{{Arm: "host", Reason: record.InProse("another load's")}}}},
	})
	if got := x.noWindowOf("pod"); got != noWindowSince(record.InProse("open pod: copy the data set: no such file")) {
		t.Error(got)
	}
	if got := x.noWindowOf("host"); got != noWindow {
		t.Error(got)
	}
}
