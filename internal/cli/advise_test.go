package cli

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/record"
)

// candidate is one with a result: the part of the loss that it regains, and what the neighbour keeps.
func candidateOf(arm string, word record.AnswerWord, share, kept float64) remedy.Candidate {
	c := remedy.Candidate{Candidate: record.Candidate{Arm: arm, Remedies: []string{arm}}}
	c.Result = &record.RemedyResult{
		Answer: record.Says{Word: word}, Gained: &record.Ratio{Ratio: math.Pow(2, share)},
		Left: &record.Ratio{Ratio: 0.9, Low: 0.88, High: 0.92},
	}
	if kept > 0 {
		c.Result.Kept = &record.Ratio{Ratio: kept, Low: kept - 0.01, High: kept + 0.01}
	}
	return c
}

// The best remedy regains most. Among those that its interval does not exclude it is the one that costs the
// neighbour least. What is not shown to be faster is never the best.
func TestBestRemedy(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []remedy.Candidate
		want []int
	}{
		{"most regained", []remedy.Candidate{candidateOf("a", record.SaysFaster, 0.5, 0.9), candidateOf("b", record.SaysFaster, 0.9, 0.1)}, []int{1, 0}},
		{"a tie costs the neighbour least", []remedy.Candidate{candidateOf("a", record.SaysFaster, 0.92, 0.05), candidateOf("b", record.SaysFaster, 0.9, 0.4)}, []int{1, 0}},
		{"the neighbour is unknown", []remedy.Candidate{candidateOf("a", record.SaysFaster, 0.9, 0), candidateOf("b", record.SaysFaster, 0.92, 0)}, []int{1, 0}},
		{"not shown", []remedy.Candidate{candidateOf("a", record.SaysUndecided, 0.9, 0.9), candidateOf("b", record.SaysSlower, 0.9, 0.9)}, nil},
		{"not tried", []remedy.Candidate{{}, candidateOf("b", record.SaysFaster, 0.9, 0.9)}, []int{1}},
	} {
		a := &attempt{candidates: c.all, loss: &record.AdviceLoss{Lost: record.Ratio{Ratio: 0.5}}}
		if got := a.helped(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Of the candidates that are undecided the one that gives most of the loss back is proved, if it is enough.
func TestPromising(t *testing.T) {
	undecided := func(share float64) remedy.Candidate { return candidateOf("x", record.SaysUndecided, share, 0.5) }
	for _, c := range []struct {
		name string
		all  []remedy.Candidate
		want int
	}{
		{"the largest", []remedy.Candidate{undecided(0.4), undecided(0.7), undecided(0.6)}, 1},
		{"too little", []remedy.Candidate{undecided(0.2), undecided(-0.5)}, -1},
		{"decided or not tried", []remedy.Candidate{candidateOf("a", record.SaysNoDifference, 0.9, 0), candidateOf("b", record.SaysSlower, 0.9, 0), {}}, -1},
		{"a loss of time", []remedy.Candidate{undecided(-0.5)}, 0},
	} {
		lost := 0.5
		if c.name == "a loss of time" { // a latency: less is better
			lost = 2
		}
		a := &attempt{candidates: c.all, loss: &record.AdviceLoss{Lost: record.Ratio{Ratio: lost}}}
		if got := a.promising(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Two remedies are tried together only where a part of the loss is shown to remain.
func TestRemains(t *testing.T) {
	for _, c := range []struct {
		lost, low, high float64
		want            bool
	}{{0.5, 0.8, 0.9, true}, {0.5, 0.97, 1.02, false}, {0.5, 1.01, 1.1, false}, {1.5, 1.1, 1.2, true}, {1.5, 0.9, 0.95, false}} {
		x := candidateOf("a", record.SaysFaster, 0.9, 0)
		x.Result.Left = &record.Ratio{Ratio: (c.low + c.high) / 2, Low: c.low, High: c.high}
		a := &attempt{loss: &record.AdviceLoss{Lost: record.Ratio{Ratio: c.lost}}, candidates: []remedy.Candidate{x}}
		if got := a.remains(0); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The time of an advice is that of the flag, or some minutes for each load.
func TestAdviceBudget(t *testing.T) {
	for _, c := range []struct {
		given string
		loads int
		want  time.Duration
	}{{"", 1, 3 * time.Minute}, {"", 4, 12 * time.Minute}, {"", 0, 3 * time.Minute}, {"90s", 4, 90 * time.Second}} {
		a := adviseCommand{experimentFlags: experimentFlags{Budget: c.given}}
		if got, err := a.budgetFor(c.loads); err != nil || got != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if _, err := (&adviseCommand{experimentFlags: experimentFlags{Budget: "soon"}}).budgetFor(1); exitCode(err) != exitUsage {
		t.Errorf("a budget that is none: %v", err)
	}
}

// A load whose own parameters are the only cause is slower by itself.
func TestByItself(t *testing.T) {
	server, limit := record.CauseShare{Causes: []record.LossCause{record.LossServer}}, record.CauseShare{Causes: []record.LossCause{record.LossCPULimit}}
	for _, c := range []struct {
		causes []record.CauseShare
		want   bool
	}{
		{[]record.CauseShare{server}, true}, {[]record.CauseShare{server, limit}, false}, {nil, false},
		{[]record.CauseShare{{Causes: []record.LossCause{record.LossServer, record.LossVolume}}}, false},
	} {
		if got := byItself(c.causes); got != c.want {
			t.Errorf("%+v: %v", c.causes, got)
		}
	}
}

// Where the time has no room for all candidates, each cause keeps one.
func TestSpareCandidate(t *testing.T) {
	cpu, disk := record.LossNeighbourCPU, record.LossNeighbourDisk
	a := &attempt{}
	for _, causes := range [][]record.LossCause{{cpu}, {cpu}, {disk}, {cpu, disk}} {
		a.candidates = append(a.candidates, remedy.Candidate{Candidate: record.Candidate{For: causes}})
	}
	for _, c := range []struct {
		tried []int
		want  int
	}{{[]int{0, 1, 2, 3}, 3}, {[]int{0, 1, 2}, 1}, {[]int{0, 2}, 1}, {[]int{1, 3}, 1}} {
		if got := a.spare(c.tried); got != c.want {
			t.Errorf("%v: %d, want %d", c.tried, got, c.want)
		}
	}
}

// The time of a launch is the mean of those of the load, for each arm.
func TestLaunchOf(t *testing.T) {
	load := record.Workload{Name: "w", Arms: []record.Arm{{Name: "a"}, {Name: "twin"}}}
	r := &record.Result{}
	if got, err := launchOf(r, load); got != 0 || err != nil {
		t.Errorf("without launches: %v, %v", got, err)
	}
	for _, g := range []record.Generation{{Workload: "w", Seconds: 3}, {Workload: "x", Seconds: 90}, {Workload: "w", Number: 1, Seconds: 5}} {
		r.Lines = append(r.Lines, record.Line{Generation: &g})
	}
	if got, err := launchOf(r, load); got != 2*time.Second || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
