package advise

import (
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// attemptOn is an attempt at the loss of b against a in an experiment, with candidates that are those arms changed.
func attemptOn(t *testing.T, source string, changes ...func(*experiment.ArmSpec)) *attempt {
	t.Helper()
	e, err := experiment.Parse("e.yaml", []byte(source), catalog.Words())
	if err != nil {
		t.Fatal(err)
	}
	arms := e.ArmsOf(e.Workload("w"))
	a := &attempt{
		Search: &Search{Catalog: catalog.Plan(nil), Experiment: e}, host: facts.Host{Control: facts.Control{CPUs: []int{0, 1}}}, base: arms[0], lost: arms[1],
		loss: &record.AdviceLoss{Workload: "w", Arm: "b", Baseline: "a", Lost: record.Ratio{Ratio: 0.5}}, end: time.Now().Add(time.Hour),
	}
	for i, change := range changes {
		c := remedy.Candidate{Spec: a.lost, Candidate: record.Candidate{Arm: string(rune('p' + i))}}
		c.Spec.Name = c.Arm
		change(&c.Spec)
		a.candidates = append(a.candidates, c)
	}
	return a
}

// In the proof every arm has launches of its own, whatever the remedy changes; in the other stages an arm that is
// like the baseline has.
func TestProofHasOwnLaunches(t *testing.T) {
	launches := func(a *attempt, kind record.StageKind) (launches, arms int) {
		t.Helper()
		p, err := a.planned(kind, time.Minute, coarse, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(plan.Instances(p.Loads[0].Arms)), len(p.Loads[0].Arms)
	}
	own := attemptOn(t, "arms: {a: {environment: host}, b: {environment: host, set: {work: 1.5}}}\nbaseline: a\nworkloads: {w: {kind: spin}}\n",
		func(s *experiment.ArmSpec) { s.Set = nil })
	for _, kind := range []record.StageKind{record.StageProof, record.StageCandidates} {
		if n, arms := launches(own, kind); n != 4 || arms != 4 {
			t.Errorf("%s, a remedy that takes away the difference: %d launches of %d arms", kind, n, arms)
		}
	}
	testneed.Root(t)
	beside := attemptOn(t, "neighbours: {n: {kind: spin}}\narms: {a: {environment: host}, b: {environment: host, neighbour: n}}\nbaseline: a\nworkloads: {w: {kind: spin}}\n",
		func(s *experiment.ArmSpec) { s.Isolation = []string{"nice"} })
	beside.host = inspect.Host("/")
	if n, arms := launches(beside, record.StageCandidates); n >= arms {
		t.Errorf("a mechanism is switched on the same processes: %d launches of %d arms", n, arms)
	}
	if n, arms := launches(beside, record.StageProof); n != arms {
		t.Errorf("the proof of a mechanism: %d launches of %d arms", n, arms)
	}
}
