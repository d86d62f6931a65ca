package run

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

const ms = time.Millisecond

// scheduled is the schedule of a load of ten arms whose blocks take 0.25 s, in a turn that has just begun.
func scheduled(budget time.Duration) *schedule {
	load := &plan.Load{Workload: record.Workload{Name: "load", Baseline: "host"}, Arms: make([]plan.PlannedArm, 10)}
	s := newSchedule(&plan.Plan{}, load)
	s.beginTurn(budget)
	s.noise, s.lengths = 0.2, plan.Lengths{Window: 20 * ms, Discard: 3 * ms, Blocks: 8}
	s.observed = plan.Observed{Arms: 10, Switch: 2 * ms, Launch: time.Second}
	return &s
}

// The rest of the time is divided by the launch effects that were measured, and by the time that the last
// launch took with its closing.
func TestAllocateByWhatWasMeasured(t *testing.T) {
	for _, c := range []struct {
		name                  string
		launches, generations int
		sd                    float64
		launched, closed      time.Duration
		want                  plan.Lengths
	}{
		// 1 s and ten arms that get warm in 1.5 s. sqrt(10 * 0.2² / 0.0002) = 44.7: four launches, int((45.9 / 4 - 2.5) / 0.25)
		{name: "nothing measured, so 1 %", want: plan.Lengths{Generations: 4, Blocks: 35}},
		// sqrt(4 * 0.2² / 0.005) = 5.7, so eight blocks: int(45.9 / 3)
		{name: "5 %", launches: 2, sd: 0.05, launched: 900 * ms, closed: 100 * ms, want: plan.Lengths{Generations: 15, Blocks: 8}},
		// sqrt(1.2 * 0.2² / 0.005) = 3.1: int(45.9 / 1.07)
		{name: "a launch takes 0.3 s", launches: 2, sd: 0.05, launched: 250 * ms, closed: 50 * ms, want: plan.Lengths{Generations: 42, Blocks: 3}},
		{name: "fixed, two of six are over", launches: 2, generations: 6, sd: 0.05, launched: 900 * ms, closed: 100 * ms, want: plan.Lengths{Generations: 4, Blocks: 41}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := scheduled(45900 * ms)
			s.plan.Generations, s.launches, s.launchSD, s.launchTime, s.closeTime = c.generations, c.launches, c.sd, c.launched, c.closed
			s.allocate(false)
			if s.lengths.Generations != c.want.Generations || s.lengths.Blocks != c.want.Blocks {
				t.Errorf("%s: %d launches of %d blocks, want %+v", c.name, s.lengths.Generations, s.lengths.Blocks, c.want)
			}
		})
	}
}

// Launches with shorter windows do not count: a turn whose windows are made longer has as many launches
// left as one that begins.
func TestAllocateAfterLongerWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduled(20 * time.Second)
		s.launches, s.launchTime, s.closeTime = 3, 900*ms, 100*ms
		if s.allocate(false); s.lengths.Generations != 2 {
			t.Errorf("after three launches %d, want 2", s.lengths.Generations)
		}
		window := s.lengths.Window
		if _, ok := s.lengthen(); !ok || s.lengths.Window <= window {
			t.Fatalf("windows of %v after %v", s.lengths.Window, window)
		}
		if s.allocate(false); s.lengths.Generations != 4 || s.counting() != 0 {
			t.Errorf("with longer windows %d launches, and %d count; want 4 and 0", s.lengths.Generations, s.counting())
		}
		if s.beginTurn(45900 * ms); s.counting() != 0 || s.shorter != 0 {
			t.Errorf("a new turn has %d counting launches, %d with shorter windows", s.counting(), s.shorter)
		}
	})
}

// Windows that warm the arms after a launch have no settle time and a length of their own.
func TestWindowsThatWarm(t *testing.T) {
	s := scheduled(time.Minute)
	for window, want := range map[time.Duration]time.Duration{10 * ms: 150 * ms, 20 * ms: 150 * ms, 2 * time.Second: 150 * ms} {
		s.lengths.Window = window
		if w := s.windowSpec(warmBlock, true); w.Discard != 0 || w.Length != want || w.Steady != 0 {
			t.Errorf("windows of %v: warmed by %+v", window, w)
		}
		if w := s.windowSpec(0, true); w.Discard != 3*ms || w.Length != window || w.Steady != 0 {
			t.Errorf("windows of %v: %+v", window, w)
		}
	}
	s.lengths.Window = 2 * time.Second
	if w := s.windowSpec(4, true); w.Steady != 4*time.Second {
		t.Errorf("in the middle of a launch the baseline runs on for %v", w.Steady)
	}
	if w := s.windowSpec(4, false); w.Steady != 0 {
		t.Errorf("another arm runs on for %v", w.Steady)
	}
}

// The next launch needs no time for what the last one has kept for it.
func TestNextLaunchIsShorterByWhatIsKept(t *testing.T) {
	s := scheduled(time.Minute)
	s.launches, s.launchTime, s.closeTime = 1, 20*time.Second, time.Second
	for making, want := range map[time.Duration]time.Duration{0: 21 * time.Second, 15 * time.Second: 6 * time.Second, 30 * time.Second: time.Second} {
		s.making = making
		if got := s.planningInput().Launch; got != want {
			t.Errorf("%v kept: the next launch takes %v, want %v", making, got, want)
		}
	}
}

// The other arms wait for the question: it is looked at after three fifths of the time, or as much earlier as they need
// for four launches. Where more is shown than the interval of a layer would be wide, or where it was given up, they have the
// rest; else it has.
func TestLayersWaitForTheQuestion(t *testing.T) {
	made := func() *schedule {
		load := &plan.Load{Workload: record.Workload{Name: "load", Baseline: "host", Question: "container", LayersOnLoss: true}, Subject: "container", Arms: make([]plan.PlannedArm, 6)}
		s := newSchedule(&plan.Plan{}, load)
		s.noise, s.lengths = 0.05, plan.Lengths{Window: 20 * ms, Discard: 5 * ms, Blocks: 8}
		s.observed = plan.Observed{Arms: 6, Switch: 2 * ms, Launch: time.Second}
		s.piloted = true
		return &s
	}
	for name, c := range map[string]struct {
		budget  time.Duration
		shown   []Found
		givenUp bool
		at      time.Duration
		layers  bool
	}{
		"shown":         {budget: 90 * time.Second, shown: []Found{{0.02, 0.3, 0.01}, {0.3, 0.3, 0.01}}, at: 50 * time.Second, layers: true},
		"shown, small":  {budget: 90 * time.Second, shown: []Found{{0.02, 0.3, 0.01}}, at: 50 * time.Second},
		"launches":      {budget: 90 * time.Second, shown: []Found{{0.02, 0.01, 0.1}}, at: 50 * time.Second},
		"not shown":     {budget: 90 * time.Second, at: 50 * time.Second},
		"given up":      {budget: 90 * time.Second, givenUp: true, at: 50 * time.Second, layers: true},
		"little budget": {budget: 15 * time.Second, shown: []Found{{0.3, 0.05, 0.01}}, at: 4 * time.Second, layers: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := made()
			if s.beginTurn(10 * time.Second); !s.waiting() || s.looks() || s.armsInBlock() != 3 {
				t.Fatalf("%s: the first pass waits %v, looks %v, %d arms", name, s.waiting(), s.looks(), s.armsInBlock())
			}
			s.spent, s.share = 10*time.Second, c.budget+10*time.Second
			s.beginSecondPass(1)
			s.beginTurn(c.budget)
			if !s.waiting() || !s.looks() || s.ahead() > c.at || s.ahead() < c.at-12*time.Second {
				t.Fatalf("%s: waits %v, looks after %v, want %v", name, s.waiting(), s.ahead(), c.at)
			}
			s.launches, s.givenUp["container"] = 6, c.givenUp
			opened := s.decideLayers(c.shown)
			if opened != c.layers || s.waiting() || s.looks() || s.ahead() != s.clock.left() || s.hasArm("cgroup") != c.layers {
				t.Errorf("%s: opened %v, waits %v, looks %v, a layer is launched %v", name, opened, s.waiting(), s.looks(), s.hasArm("cgroup"))
			}
			if least := s.counting(); least != 0 == c.layers {
				t.Errorf("%s: %d launches count for the layers", name, least)
			}
		})
	}
}

// The transparency check is in the first launch and every fourth.
func TestTheTransparencyCheckIsInEveryFourthLaunch(t *testing.T) {
	s := scheduled(time.Minute)
	var with []int
	for s.launch = range 12 {
		if s.hasSteady(s.lengths.Blocks / 2) {
			with = append(with, s.launch)
		}
	}
	if !slices.Equal(with, []int{0, 3, 7, 11}) {
		t.Errorf("launches %v", with)
	}
}

// What the windows and launches so far say of their scatter replaces what the pilot saw.
func TestTheScheduleLearns(t *testing.T) {
	s := scheduled(time.Minute)
	if s.learn(Decision{LaunchSD: 0.03}); s.noise != 0.2 || s.launchSD != 0.03 {
		t.Errorf("noise %v, launches %v", s.noise, s.launchSD)
	}
	if s.learn(Decision{Arms: []Running{{Arm: "a", Pair: 0.03}, {Arm: "b", Pair: 0.04}}}); s.noise < 0.035 || s.noise > 0.036 {
		t.Errorf("noise %v of all arms", s.noise)
	}
	if s.load.Subject = "b"; true {
		s.learn(Decision{Arms: []Running{{Arm: "a", Pair: 0.03}, {Arm: "b", Pair: 0.04}}})
	}
	if s.noise != 0.04 {
		t.Errorf("noise %v of the subject", s.noise)
	}
}

// No launch is much longer than all before, whatever the noise asks for.
func TestNoLaunchDominates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduled(45900 * ms)
		s.measured = 3
		if s.allocate(false); s.lengths.Blocks != 3*longerThan {
			t.Errorf("%d blocks after a launch of 3", s.lengths.Blocks)
		}
	})
}
