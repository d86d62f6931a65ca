package answer

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

// limited is a run of three arms, of which one has a CPU limit.
func limited() *record.Effects {
	effect := func(arm string, v record.Verdict, percent, half float64) record.Effect {
		return record.Effect{Workload: "service", Metric: "p99", Arm: arm, Baseline: "free", Verdict: v, Typical: ratio(percent, half), Generations: 6}
	}
	arm := func(name string, p99, cpus, throttled float64) record.ArmResult {
		return record.ArmResult{Workload: "service", Arm: name, Windows: 9, Values: map[string]record.Value{"p99": record.Number(p99)},
			Limit: &record.CPULimit{CPUs: cpus, Used: record.Number(0.4), Throttled: record.Number(throttled)}}
	}
	return &record.Effects{
		Host:      record.Host{CPUs: 2},
		Workloads: []record.WorkloadResult{{Name: "service", Primary: "p99", Baseline: "free", Blocks: 9, Generations: 6, Seconds: 60}},
		Arms:      []record.ArmResult{arm("free", 0.01, 0, 0), arm("request", 0.01, 0, 0), arm("half", 0.05, 0.5, 0.3)},
		Effects:   []record.Effect{effect("request", record.NoDifference, 0.5, 3), effect("half", record.Slower, 400, 40)},
	}
}

// Arms with a CPU limit have a table of their own, with the baseline first.
func TestLimits(t *testing.T) {
	a := Of(limited())
	if len(a.Tables) != 1 || a.Tables[0].Question != record.AskedLimit || a.Tables[0].Workload != "service" || a.Standing != record.AnsweredAll {
		t.Fatalf("%+v", a)
	}
	var arms []string
	for _, r := range a.Tables[0].Rows {
		arms = append(arms, r.Arm)
		if r.Own == nil || r.Limit == nil {
			t.Errorf("%+v", r)
		}
	}
	rows := a.Tables[0].Rows
	if !slices.Equal(arms, []string{"free", "request", "half"}) || rows[0].Effect != nil || rows[0].Says.Word != "" {
		t.Errorf("%q, %+v", arms, rows[0])
	}
	if s := rows[1].Says; s.Word != record.SaysNoDifference || len(s.Causes) > 0 {
		t.Errorf("%+v", s)
	}
	if s := rows[2].Says; s.Word != record.SaysSlower || !slices.Equal(s.Causes, []record.Cause{record.CauseThrottle}) {
		t.Errorf("%+v", s)
	}
	e := limited()
	for i := range e.Arms {
		e.Arms[i].Limit = nil
	}
	if q := Of(e).Tables[0].Question; q != record.AskedArms {
		t.Errorf("without a limit the question is %s", q)
	}
}

// The end of the interval that is nearer to the objective decides.
func TestObjective(t *testing.T) {
	for name, c := range map[string]struct {
		level *record.ArmLevel
		want  record.AnswerWord
		more  float64
	}{
		"below":        {&record.ArmLevel{Value: 0.004, Low: 0.003, High: 0.0099, Launches: 6}, record.SaysEnough, 0},
		"above":        {&record.ArmLevel{Value: 0.02, Low: 0.011, High: 0.04, Launches: 6}, record.SaysTooSlow, 0},
		"few launches": {&record.ArmLevel{Value: 0.004, Launches: 2, Reason: record.InProse("a verdict needs 4 launches")}, record.SaysUndecided, 20},
		"none":         {nil, record.SaysUndecided, 0},
		// Half-width ln 4, distance ln 2: four times the time.
		"between": {&record.ArmLevel{Value: 0.005, Low: 0.00125, High: 0.02, Launches: 6}, record.SaysUndecided, 180},
		"at it":   {&record.ArmLevel{Value: 0.01, Low: 0.009, High: 0.0111, Launches: 6}, record.SaysUndecided, 0},
	} {
		e := limited()
		e.Workloads[0].Objective = &record.Objective{Metric: "p99", Most: 0.01}
		e.Arms, e.Effects = e.Arms[:1], nil
		e.Arms[0].Reached = c.level
		a := Of(e)
		if len(a.Tables) != 1 || a.Tables[0].Question != record.AskedObjective || len(a.Tables[0].Rows) != 1 {
			t.Fatalf("%s: %+v", name, a)
		}
		s := a.Tables[0].Rows[0].Says
		if s.Word != c.want || s.Seconds < c.more-1 || s.Seconds > c.more+1 {
			t.Errorf("%s: %+v, want %s, %v s", name, s, c.want, c.more)
		}
		if decided := c.want != record.SaysUndecided; (a.Standing == record.AnsweredAll) != decided {
			t.Errorf("%s: standing %s", name, a.Standing)
		}
	}
}
