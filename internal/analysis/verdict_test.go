package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// The verdict of one effect from its intervals, in per cent: that of the typical effect with the narrower
// one for equivalence, and those of the total.
func TestVerdicts(t *testing.T) {
	i := func(low, high float64) stat.Interval { return stat.Interval{Lo: low / 100, Hi: high / 100} }
	narrow, wide := sides{i(-0.6, 0.6), i(-0.5, 0.5)}, sides{i(-0.8, 2), i(-0.6, 1.8)}
	loss, noisy := sides{i(-3, -2), i(-2.9, -2.1)}, sides{i(-3, 3), i(-2.5, 2.5)}
	small := sides{i(-0.9, -0.1), i(-0.8, -0.2)}
	for _, c := range []struct {
		name            string
		typical, total  sides
		launches        int
		windows, better int
		want            record.Verdict
		why             string
	}{
		{"a loss", loss, loss, 4, 0, 1, record.Slower, ""},
		{"a loss in three launches", loss, loss, 3, 0, 1, record.Undecided, "a verdict needs 4 launches, 3 were made"},
		{"one launch", narrow, narrow, 1, 0, 1, record.Undecided, "1 was made"},
		{"equal", narrow, narrow, 4, 0, 1, record.NoDifference, ""},
		{"a small loss", small, small, 4, 0, 1, record.NoDifference, said.English(belowMargin)},
		{"equal in three launches", narrow, narrow, 3, 0, 1, record.Undecided, "4 launches"},
		{"equal but for stalls", narrow, loss, 8, 0, 1, record.Undecided, said.English(totalOpen)},
		{"a small loss with stalls", small, loss, 8, 0, 1, record.Slower, said.English(maybeBelow)},
		{"enough windows", narrow, narrow, 8, 500, 1, record.NoDifference, ""},
		{"too few windows", narrow, narrow, 8, 300, 1, record.Undecided, "300 windows do not rule out rare stalls larger than the margin, about 405 would"},
		{"no loss", wide, wide, 4, 0, 1, record.NoLoss, ""},
		{"no loss, total open", wide, noisy, 4, 0, 1, record.Undecided, "too wide"},
		{"no loss, few windows", wide, wide, 4, 300, 1, record.Undecided, "too wide"},
		{"no loss of latency is on the other side", wide, wide, 4, 0, -1, record.Undecided, "too wide"},
		{"no rise of latency", sides{i(-2, 0.8), i(-1.8, 0.6)}, sides{i(-2, 0.8), i(-1.8, 0.6)}, 4, 0, -1, record.NoLoss, ""},
		{"direction unknown", wide, wide, 4, 0, 0, record.Undecided, "too wide"},
		{"noise", noisy, noisy, 8, 0, 1, record.Undecided, "too wide"},
		{"a gain", sides{i(0.2, 2), i(0.3, 1.9)}, wide, 4, 0, 1, record.Faster, said.English(maybeBelow)},
	} {
		mid := (c.typical.shown.Lo + c.typical.shown.Hi) / 2
		r := ruling{est: stat.Estimate{Mean: mid}, sides: c.typical, total: c.total, significant: c.typical.shown.Beyond(0),
			proof: proof{launches: c.launches, windows: c.windows}, better: c.better, margin: 0.01}
		if v, why := r.of(); v != c.want || !strings.Contains(said.English(why), c.why) || c.why == "" && !why.IsZero() {
			t.Errorf("%s: %v %q, want %v %q", c.name, v, why, c.want, c.why)
		}
	}
}

// An arm with two speeds has a verdict only where the total differs like the typical effect.
func TestVerdictOfTwoSpeeds(t *testing.T) {
	i := func(low, high float64) sides {
		return sides{stat.Interval{Lo: low / 100, Hi: high / 100}, stat.Interval{Lo: low / 100, Hi: high / 100}}
	}
	for _, c := range []struct {
		total sides
		two   bool
		want  record.Verdict
	}{
		{i(1, 5), true, record.Faster}, {i(-1, 5), true, record.Undecided}, {i(-5, -1), true, record.Undecided}, {i(-1, 5), false, record.Faster},
	} {
		r := ruling{est: stat.Estimate{Mean: 0.03}, sides: i(2, 4), total: c.total, significant: true, better: 1, margin: 0.01,
			proof: proof{launches: 4, twoSpeeds: c.two}}
		if v, why := r.of(); v != c.want || (v == record.Undecided) != (why == twoSpeedsOpen) {
			t.Errorf("total %v, two speeds %v: %v (%s)", c.total.shown, c.two, v, why)
		}
	}
}

// Fewer than four launches give no verdict in any metric, of arms, steps and twins, and the time that four
// need from the time of those that were made.
func TestFewLaunches(t *testing.T) {
	for _, generations := range []int{1, 2, 3, 4} {
		w := quiet(41)
		w.generations, w.light, w.effects = generations, true, map[string]float64{"cgroup": -0.3, "container": -0.5}
		e := analyse(t, w)
		for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Twin} {
			for _, x := range list {
				few := generations < 4
				if x.Generations != generations || few && (x.Verdict != record.Undecided || x.Typical != nil && !strings.Contains(said.English(x.Reason), "4 launches")) {
					t.Errorf("%d launches: %s of %s is %v (%s) from %d", generations, x.Metric, x.Arm, x.Verdict, x.Reason, x.Generations)
				}
			}
		}
		x := find(e.Effects, "throughput", "container")
		if want := e.Workloads[0].Seconds / float64(generations) * float64(4-generations); math.Abs(x.Needed-want) > 1e-9 {
			t.Errorf("%d launches: %v s more, want %v", generations, x.Needed, want)
		}
		if generations == 4 && !x.Verdict.Worse() {
			t.Errorf("four launches: %v (%s)", x.Verdict, x.Reason)
		}
	}
}

// An arm that is missing in launches has a verdict from its own four.
func TestLaunchesOfAnArm(t *testing.T) {
	r := questioned(42, -0.3)
	eachWindow(r, func(b *record.Block, i int) {
		if b.Windows[i].Arm == "cgroup" && b.Generation > 2 {
			b.Windows[i].Dropped = record.DropAbandoned
		}
	})
	e := analysed(t, r)
	if x := find(e.Effects, "throughput", "cgroup"); x.Verdict != record.Undecided || x.Generations != 3 || !strings.Contains(said.English(x.Reason), "3 were made") {
		t.Errorf("cgroup: %v from %d (%s)", x.Verdict, x.Generations, x.Reason)
	}
	if x := find(e.Effects, "throughput", "container"); !x.Verdict.Worse() || x.Generations != 5 {
		t.Errorf("container: %v from %d (%s)", x.Verdict, x.Generations, x.Reason)
	}
}

// Rare stalls are in the total alone: typical windows are alike, and the arm is not called negligible.
func TestStallsAreNotNegligible(t *testing.T) {
	w := world{seed: 43, generations: 8, blocks: 60, launchSD: 0.0005, windowSD: 0.01, sharedSD: 0.02, light: true, stallEvery: 50, stallBy: 0.8}
	e := analyse(t, w)
	x := find(e.Effects, "throughput", "container")
	if inside := x.Own.Low > 0.99 && x.Own.High < 1.01; !inside || x.Verdict != record.Undecided || x.Reason != totalOpen {
		t.Errorf("with stalls: %v (%s), typical %+v, total %+v", x.Verdict, x.Reason, x.Typical, x.Total)
	}
	if x := find(e.Effects, "throughput", "cgroup"); x.Verdict != record.NoDifference {
		t.Errorf("without: %v (%s), %+v", x.Verdict, x.Reason, x.Total)
	}
}

// The twins of a run share its 5 %: with more loads each has a wider interval, and the noise floor stays.
// In another metric than the primary one a twin that differs has no verdict.
func TestTwinsShareTheLevel(t *testing.T) {
	r := quiet(44).result()
	alone := analysed(t, r)
	second := r.Plan.Workloads[0]
	second.Name = "other"
	r.Plan.Workloads = append(r.Plan.Workloads, second)
	for _, l := range r.Lines[1:] {
		switch {
		case l.Block != nil:
			b := *l.Block
			b.Workload, l.Block = "other", &b
		case l.Pilot != nil:
			p := *l.Pilot
			p.Workload, l.Pilot = "other", &p
		default:
			continue
		}
		r.Lines = append(r.Lines, l)
	}
	both := analysed(t, r)
	one, two := find(alone.Twin, "throughput", "twin"), find(both.Twin, "throughput", "twin")
	ratio := halfOf95(two.Own) / halfOf95(one.Own)
	if !(ratio > 1.1 && ratio < 1.4) || *two.Typical != *two.Own {
		t.Errorf("of two loads %+v, of one %+v", two.Own, one.Own)
	}
	if a, b := alone.Workloads[0].NoiseFloor, both.Workloads[0].NoiseFloor; a != b || !(a > 0) {
		t.Errorf("noise floor %v, then %v", a, b)
	}
	shifted := quiet(45)
	shifted.effects["twin"] = 0.2
	e := analyse(t, shifted)
	if x := find(e.Twin, "throughput", "twin"); !x.Verdict.Better() || x.Noisy {
		t.Errorf("throughput: %v, noisy %v", x.Verdict, x.Noisy)
	}
	if x := find(e.Twin, "p50", "twin"); x.Verdict != record.Undecided || !x.Noisy || x.Reason != twinIsNoise {
		t.Errorf("p50: %v (%s), noisy %v", x.Verdict, x.Reason, x.Noisy)
	}
}
