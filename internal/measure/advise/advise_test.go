package advise

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/wire/metric"
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

// The pace of a load has the mean launch of its processes and the mean time from window to window.
func TestPaceOf(t *testing.T) {
	load := record.Workload{Name: "w", Arms: []record.Arm{{Name: "a"}, {Name: "twin"}, {Name: "b", Shares: "a"}}}
	r := &record.Result{}
	if got, err := paceOf(r, load); got != (pace{}) || err != nil {
		t.Errorf("without launches: %v, %v", got, err)
	}
	for _, g := range []record.Generation{{Workload: "w", Seconds: 3}, {Workload: "x", Seconds: 90}, {Workload: "w", Number: 1, Seconds: 5}} {
		r.Lines = append(r.Lines, record.Line{Generation: &g})
	}
	for _, b := range []record.Block{{Workload: "w", Windows: []record.Window{{Start: 1}, {Start: 2}, {Start: 4}}}, {Workload: "x", Windows: []record.Window{{}, {Start: 90}}}, {Workload: "w", Windows: []record.Window{{Start: 8}}}} {
		r.Lines = append(r.Lines, record.Line{Block: &b})
	}
	if got, err := paceOf(r, load); got != (pace{2 * time.Second, 1500 * time.Millisecond}) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Whatever the pace and the time that is left: the candidates that are tried leave room for the launches of a verdict,
// in their stage and in the proof, unless one alone is left; the others are skipped by name.
func TestCandidatesHaveRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var changes []func(*experiment.ArmSpec)
		for i := range rapid.IntRange(1, 8).Draw(rt, "candidates") {
			changes = append(changes, func(s *experiment.ArmSpec) { s.Set = map[string]string{"work": strconv.Itoa(i + 2)} })
		}
		a := attemptOn(t, "arms: {a: {environment: host}, b: {environment: host, set: {work: 1.5}}}\nbaseline: a\nworkloads: {w: {kind: spin}}\n", changes...)
		for i := range a.candidates {
			a.candidates[i].For = []record.LossCause{record.LossServer}
		}
		a.pace = pace{time.Duration(rapid.IntRange(0, 20_000).Draw(rt, "launch")) * time.Millisecond, time.Duration(rapid.IntRange(10, 3000).Draw(rt, "window")) * time.Millisecond}
		a.end = time.Now().Add(time.Duration(rapid.IntRange(5, 600).Draw(rt, "left")) * time.Second)
		tried := a.supported()
		if len(tried) == 0 || len(tried) > mostCandidates {
			rt.Fatalf("%d candidates are tried", len(tried))
		}
		for i, c := range a.candidates {
			if (c.Skipped == nil) != slices.Contains(tried, i) || c.Skipped != nil && (c.Skipped.Reason.Code != "no_room_for_more" || c.Skipped.Remedy.IsZero()) {
				rt.Fatalf("%s: %+v", c.Arm, c.Skipped)
			}
		}
		if len(tried) == 1 {
			return
		}
		p, err := a.planned(record.StageCandidates, a.part(partCandidates), coarse, tried...)
		if err != nil {
			rt.Fatal(err)
		}
		proof, _ := a.least(record.StageProof, tried[0])
		if least, ok := a.pace.deciding(p); !ok || p.Expected() < least-time.Second || p.Expected()+proof > a.part(1)+2*time.Second {
			rt.Fatalf("%v for candidates, want %v; %v for the proof; %v are left", p.Expected(), least, proof, a.part(1))
		}
		arms, instances := len(p.Loads[0].Arms), len(plan.Instances(p.Loads[0].Arms))
		if need := metric.LeastLaunches * (time.Duration(instances)*a.pace.launch + 2*time.Duration(arms)*a.pace.window); p.Expected() < need {
			rt.Fatalf("%v for four launches of %v", p.Expected(), need/metric.LeastLaunches)
		}
	})
}

// Stages whose losses have nothing in common decide nothing, whatever the proof says by itself, and the reason names
// both.
func TestContradictingStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := func(name string) *record.Ratio {
			low := rapid.Float64Range(0.1, 0.8).Draw(t, name)
			high := low + rapid.Float64Range(0.01, 0.3).Draw(t, name+" width")
			return &record.Ratio{Ratio: (low + high) / 2, Low: low, High: high}
		}
		a := &attempt{Search: &Search{}, loss: &record.AdviceLoss{Lost: *interval("loss"), Standing: record.StandingProved}}
		a.Advice.Stages = []record.AdviceStage{{Dir: "/somewhere/1-loss"}}
		tried, proof := interval("candidates"), interval("proof")
		a.candidates = []remedy.Candidate{{Candidate: record.Candidate{Result: &record.RemedyResult{Stage: "2-candidates", Lost: tried}}}, {}}
		a.loss.Proof = &record.RemedyResult{Stage: "3-proof", Lost: proof}
		a.contradict()
		apart := func(x, y record.Ratio) bool { return x.High < y.Low || y.High < x.Low }
		want := apart(a.loss.Lost, *tried) || apart(a.loss.Lost, *proof) || apart(*tried, *proof)
		if got := a.loss.Standing == record.StandingUndecided; got != want || got != (!a.loss.Reason.IsZero()) {
			t.Fatalf("%+v, %+v, %+v: %s %q", a.loss.Lost, *tried, *proof, a.loss.Standing, a.loss.Reason)
		}
		if named := strings.Count(said.English(a.loss.Reason), "-loss") + strings.Count(said.English(a.loss.Reason), "-candidates") + strings.Count(said.English(a.loss.Reason), "-proof"); want && named != 2 {
			t.Fatalf("%q", a.loss.Reason)
		}
	})
}

// A stage that is open is measured on: undecided, or without a verdict because a twin differs.
func TestAnyOpen(t *testing.T) {
	for word, want := range map[record.AnswerWord]bool{record.SaysUndecided: true, record.SaysInvalid: true, record.SaysFaster: false, record.SaysNoDifference: false, record.SaysSlower: false} {
		a := &attempt{candidates: []remedy.Candidate{candidateOf("a", record.SaysSlower, 0.5, 0), candidateOf("b", word, 0.5, 0)}}
		if got := a.anyOpen([]int{0, 1}); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}

// The arms of a result with isolation are named; a result in which no other arm is compared is no start.
func TestProtectedIn(t *testing.T) {
	arm := func(name string, isolation ...string) record.Arm { return record.Arm{Name: name, Isolation: isolation} }
	load := record.Workload{Name: "w", Baseline: "a", Arms: []record.Arm{arm("a"), {Name: "twin", Twin: true}, arm("b", "cpu.idle")}}
	if removed, compared := protectedIn([]record.Workload{load}); compared || len(removed) != 1 || removed[0].Arm != "b" || removed[0].Reason.IsZero() {
		t.Errorf("%+v, %v", removed, compared)
	}
	load.Arms = append(load.Arms, arm("none"))
	if removed, compared := protectedIn([]record.Workload{load}); !compared || len(removed) != 1 {
		t.Errorf("%+v, %v", removed, compared)
	}
}

// A stage plans with the time that is left, less what one before took longer than planned.
func TestTimeThatIsLeft(t *testing.T) {
	v := &Search{over: 5 * time.Second}
	if got := v.until(time.Now().Add(20 * time.Second)); got < 14*time.Second || got > 15*time.Second {
		t.Errorf("%v of 20 s", got)
	}
	if got := v.until(time.Now().Add(4 * time.Second)); got != 0 {
		t.Errorf("%v of 4 s", got)
	}
}
