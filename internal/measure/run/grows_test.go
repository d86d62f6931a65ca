package run

import (
	"testing"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// A load of 60 s on four arms runs for 15 s on each, and for 30 s on an instance with two of them.
func TestGrows(t *testing.T) {
	arm := func(name string) plan.PlannedArm {
		return plan.PlannedArm{Arm: record.Arm{Name: name}, Stages: workload.Stages{Grows: 100, Bytes: 1000, Rate: 7}}
	}
	l := &loadRun{load: &plan.Load{Workload: record.Workload{Budget: 60}, Arms: []plan.PlannedArm{arm("a"), arm("b"), arm("c"), arm("d")}}}
	for arms, want := range map[int]int64{1: 15 * 7, 2: 30 * 7, 4: 60 * 7} {
		s := plan.Instance{Arms: l.load.Arms[:arms]}
		if got := l.bytesWritten(s); got != want {
			t.Errorf("%d arms: %d bytes, want %d", arms, got, want)
		}
		if need, err := l.bytesNeeded(s.Arms[0].Stages, l.bytesWritten(s)); err != nil || need != 1100+want {
			t.Errorf("%d arms need %d bytes, want %d, %v", arms, need, 1100+want, err)
		}
	}
}
