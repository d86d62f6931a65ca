package plan

import (
	"math"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// reaching is a plan of a load with so many arms that has the whole budget.
func reaching(arms int, budget float64) *Plan {
	return &Plan{
		Record: record.Plan{Budget: budget},
		Loads:  []Load{{Workload: record.Workload{Name: "a", Budget: budget}, Arms: make([]PlannedArm, arms)}},
	}
}

// Without a launch effect the half-width is z sd / sqrt(blocks). Here one launch is fixed, and its
// known effect is subtracted.
func TestReachIsTheFormula(t *testing.T) {
	p := reaching(3, 100)
	p.Generations = 1
	n := Noise{SD: 0.1, Window: 100 * time.Millisecond}
	got := math.Log1p(p.Reach(&p.Loads[0], n, 100)) / 1.959964 // one arm is compared
	blocks := math.Floor((99 - 0.75) / (3 * 0.13))
	if want := math.Sqrt(0.01/blocks + 2*stat.UsualLaunchSD*stat.UsualLaunchSD); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("standard error %v, want %v", got, want)
	}
}

// A question has an interval of its own, and a load with throughput is judged in two metrics.
func TestReachOfTheQuestion(t *testing.T) {
	p, n := reaching(9, 180), Noise{SD: 0.1, Window: 100 * time.Millisecond}
	l := &p.Loads[0]
	all := math.Log1p(p.Reach(l, n, 180)) / 2.690110 // 1 - 0.025/7
	l.Workload.Question = "container"
	alone := math.Log1p(p.Reach(l, n, 180)) / 1.959964
	l.Workload.Primary = "throughput"
	both := math.Log1p(p.Reach(l, n, 180)) / 2.241403 // 1 - 0.0125
	if math.Abs(alone/all-1) > 1e-6 || math.Abs(both/all-1) > 1e-6 {
		t.Errorf("standard errors %v, %v and %v, want the same", all, alone, both)
	}
}

// More time and fewer arms never widen the interval, and noise never narrows it. Without room for
// two blocks the half-width is +Inf.
func TestReachIsOrdered(t *testing.T) {
	n := Noise{SD: 0.1, Window: 100 * time.Millisecond}
	for _, arms := range []int{3, 5, 9} {
		p := reaching(arms, 180)
		last := math.Inf(1)
		for _, seconds := range []float64{20, 60, 180, 600, 3600} {
			half := p.Reach(&p.Loads[0], n, seconds)
			more := reaching(arms+2, 180)
			louder := Noise{SD: 0.2, Window: n.Window}
			if !(half < last) || !(more.Reach(&more.Loads[0], n, seconds) > half) || !(p.Reach(&p.Loads[0], louder, seconds) > half) {
				t.Errorf("%d arms, %v s: ±%v after ±%v", arms, seconds, half, last)
			}
			last = half
		}
	}
	p := reaching(9, 180)
	if half := p.Reach(&p.Loads[0], n, 3); !math.IsInf(half, 1) {
		t.Errorf("3 s for 9 arms: ±%v", half)
	}
}

// TimeFor is the time in which Reach gets there, and not much more.
func TestTimeFor(t *testing.T) {
	p := reaching(5, 180)
	n := Noise{SD: 0.1, Window: 100 * time.Millisecond}
	for _, half := range []float64{0.05, 0.02, 0.01} {
		s := p.TimeFor(half, n.SD*n.SD/usualNoise)
		if now, before := p.Reach(&p.Loads[0], n, s), p.Reach(&p.Loads[0], n, s/1.1); !(now <= half && before > half) {
			t.Errorf("±%v after %v s: ±%v there, ±%v before", half, s, now, before)
		}
	}
	if s := p.TimeFor(1e-6, n.SD*n.SD/usualNoise); !math.IsInf(s, 1) {
		t.Errorf("a millionth in %v s", s)
	}
}

// The bracket contains what Reach says with room on both sides, and noise that is seen up to four times as
// large moves its ends by a factor of two at most.
func TestExpect(t *testing.T) {
	p := reaching(5, 180)
	p.Loads = append(p.Loads, p.Loads[0])
	for sd := 0.01; sd < 0.5; sd *= 1.07 {
		half := p.Reach(&p.Loads[0], foreseen(sd), 180)
		b, ok := p.Expect(sd)
		if !ok || !(b.Low <= half/1.41 && half*1.41 <= b.High) || math.Abs(b.High/b.Low-4) > 1e-9 {
			t.Errorf("noise %v: %+v around %v", sd, b, half)
		}
		if more, _ := p.Expect(3.9 * sd); more.Low > 2*b.Low*(1+1e-9) || more.High > 2*b.High*(1+1e-9) {
			t.Errorf("noise %v: %+v, and %+v with 3.9 times that", sd, b, more)
		}
	}
	p.Loads[1].Budget = 3
	if b, ok := p.Expect(0.1); !ok || !math.IsInf(b.High, 1) || math.IsInf(b.Low, 1) {
		t.Errorf("no room for a load: %+v", b)
	}
	for i := range p.Loads {
		p.Loads[i].Stages.Windowed = &workload.Windowed{}
	}
	if b, ok := p.Expect(0.1); ok {
		t.Errorf("tools that run anew: %+v", b)
	}
}
