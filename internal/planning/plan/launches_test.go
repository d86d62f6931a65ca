package plan

import (
	"math"
	"testing"
	"time"
)

// Blocks per launch are sqrt(launch / block * noise² / (2 sd²)), launches take at most half of the time,
// there are four launches where the time has room, and eight blocks where these take at most twice as long as a launch. A
// block takes 0.25 s.
func TestAllocate(t *testing.T) {
	const s = time.Second
	l := Lengths{Window: 20 * time.Millisecond, Discard: 3 * time.Millisecond}
	for _, c := range []struct {
		name           string
		launch, budget time.Duration
		noise, sd      float64
		launches       int // int(budget / (launch + best * block)), best as said in the name, but at least 8
		blocks         int // int((budget / launches - launch) / block)
	}{
		{"not measured, so 1 %: sqrt(4 * 0.08² / 0.0002) = 11.3", s, 45 * s, 0.08, 0, 11, 12},
		{"0.7 %: sqrt(4 * 0.08² / 0.000098) = 16.2", s, 45 * s, 0.08, 0.007, 8, 18},
		{"3 %: 3.8, but no outlier of so few can be clipped: 8", s, 45 * s, 0.08, 0.03, 15, 8},
		{"3 %, noisy windows: sqrt(4 * 0.2² / 0.0018) = 9.4", s, 45 * s, 0.2, 0.03, 13, 9},
		{"10 %: never less than a launch takes", 3 * s, 90 * s, 0.2, 0.1, 15, 12},
		{"10 %, blocks take long: eight would take more than twice as long as a launch", 500 * time.Millisecond, 45 * s, 0.2, 0.1, 30, 4},
		{"cheap launches: sqrt(0.3 / 0.25 * 0.08² / 0.0002) = 6.2", 300 * time.Millisecond, 45 * s, 0.08, 0, 24, 6},
		{"50 % noise: sqrt(4 * 0.5² / 0.0002) = 71, but at least four launches", s, 30 * s, 0.5, 0, 4, 26},
		{"four launches of three blocks", s, 7 * s, 0.5, 0, 4, 3},
		{"four launches of two blocks: a verdict needs four", s, 6 * s, 0.5, 0, 4, 2},
		{"no room for a fourth: two blocks take half a second", s, 5900 * time.Millisecond, 0.5, 0, 3, 3},
		{"room for one", s, 2 * s, 0.5, 0, 1, 4},
		{"an hour: sqrt(4 * 0.08² / 0.0032) = 2.8, so 8", s, time.Hour, 0.08, 0.04, 1200, 8},
	} {
		o := Observed{Launch: c.launch, Switch: 2 * time.Millisecond, Arms: 10, Budget: c.budget, LaunchSD: c.sd}
		got, why := Allocate(o, l, c.noise, Lengths{})
		if got.Generations != c.launches || got.Blocks != c.blocks {
			t.Errorf("%s: %s, want %d launches of %d blocks", c.name, why, c.launches, c.blocks)
		}
	}
}

// No other division of the time has a variance that is smaller by more than a twentieth, of those in
// which launches take at most half of it and have eight blocks or more.
func TestAllocateIsTheBest(t *testing.T) {
	const launch, block, budget = 1.0, 0.25, 120.0
	variance := func(launches, noise, sd float64) float64 {
		blocks := (budget/launches - launch) / block
		return noise*noise/(launches*blocks) + 2*sd*sd/launches
	}
	l := Lengths{Window: 20 * time.Millisecond, Discard: 3 * time.Millisecond}
	for _, noise := range []float64{0.04, 0.1, 0.3} {
		for _, sd := range []float64{0.02, 0.03, 0.1} {
			o := Observed{Launch: time.Second, Switch: 2 * time.Millisecond, Arms: 10, Budget: 120 * time.Second, LaunchSD: sd}
			got, _ := Allocate(o, l, noise, Lengths{})
			best := math.Inf(1)
			for n := 4.0; n <= budget/(launch+minBlocks*block); n++ {
				best = min(best, variance(n, noise, sd))
			}
			if v := variance(float64(got.Generations), noise, sd); v > 1.05*best {
				t.Errorf("noise %v, launch SD %v: %+v has the variance %v, possible is %v", noise, sd, got, v, best)
			}
		}
	}
}

// Before each launch the rest of the time is divided anew: launches that are over count towards the least
// number, and another one follows as long as it measures for as long as it takes.
func TestLaunchesThatAreOver(t *testing.T) {
	l := Lengths{Window: 20 * time.Millisecond, Discard: 3 * time.Millisecond}
	o := Observed{Launch: time.Second, Switch: 2 * time.Millisecond, Arms: 10, Budget: 8 * time.Second, Made: 3}
	if got, why := Allocate(o, l, 0.5, Lengths{}); got.Generations != 1 || got.Blocks != 28 {
		t.Errorf("after three launches: %s", why)
	}
	o.Made, o.Launches, o.Budget = 0, FirstPassLaunches, 9*time.Second
	if got, why := Allocate(o, l, 0.5, Lengths{}); got.Generations != 2 {
		t.Errorf("the first pass: %s", why)
	}
	o.Launches = 0
	for _, c := range []struct {
		budget time.Duration
		made   int
		want   bool
	}{
		{1490 * time.Millisecond, 3, false}, {1500 * time.Millisecond, 3, true}, // two blocks of 0.25 s
		{2490 * time.Millisecond, 4, false}, {2500 * time.Millisecond, 4, true}, // two launches and two blocks
	} {
		if o.Budget = c.budget; Another(o, l, c.made) != c.want {
			t.Errorf("after %d launches, %v are left: another launch %v", c.made, c.budget, !c.want)
		}
	}
}

// The launch in which the pilot ran counts: the rest of the time is divided with it, so that long
// launches have as many blocks as fit.
func TestTheLaunchThatStandsIsPaidFor(t *testing.T) {
	o := Observed{Launch: 24 * time.Second, Switch: 100 * time.Millisecond, Arms: 3, Budget: 63 * time.Second}
	l := Lengths{Window: 200 * time.Millisecond, Discard: 100 * time.Millisecond}
	for _, c := range []struct {
		stands              bool
		generations, blocks int
	}{{false, 1, 32}, {true, 2, 16}} {
		o.Stands = c.stands
		if got, why := Allocate(o, l, 0.05, Lengths{}); got.Generations != c.generations || got.Blocks != c.blocks {
			t.Errorf("a launch stands %v: %s, want %d launches of %d blocks", c.stands, why, c.generations, c.blocks)
		}
	}
}

// Where a block is long and a launch cheap, a run has more launches than the noise of windows alone asks for.
func TestCheapLaunches(t *testing.T) {
	o := Observed{Launch: 3 * time.Second, Budget: 8 * time.Minute, Arms: 10, LaunchSD: 0.005}
	l, _ := Allocate(o, Lengths{Window: 400 * time.Millisecond, Discard: 200 * time.Millisecond}, 0.25, Lengths{})
	if l.Generations < 7 || l.Blocks < fewBlocks || l.Blocks > 11 {
		t.Errorf("%d launches of %d blocks", l.Generations, l.Blocks)
	}
}
