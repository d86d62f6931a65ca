package run

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// played is a session whose windows take their time on the clock of the test.
type played struct{ session.Session }

func (played) Measure(_ context.Context, w wire.WindowSpec) (wire.Sample, error) {
	time.Sleep(w.Discard + w.Length)
	return wire.Sample{Seconds: w.Length.Seconds(), Ops: 1}, nil
}

func (played) Metrics() []probe.Metric { return nil }
func (played) Method() string          { return "played" }

// turnOf is a turn of three arms whose blocks take 3 s, just after a launch.
func turnOf(t *testing.T, budget, launch time.Duration, blocks int) *loadRun {
	t.Helper()
	w, err := record.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	load := &plan.Load{Workload: record.Workload{Baseline: "host"}}
	l := newLoadRun(&runner{rec: recorder{writer: w}, config: Config{
		Plan:   &plan.Plan{Window: 900 * time.Millisecond},
		Decide: func(record.Workload, []record.Line) Decision { return Decision{} },
	}}, load, 0)
	l.schedule.beginTurn(budget)
	l.schedule.launchTime, l.schedule.launches = launch, 1
	l.schedule.lengths = plan.Lengths{Window: 900 * time.Millisecond, Discard: 100 * time.Millisecond, Blocks: blocks}
	for _, name := range []string{"host", plan.TwinName, "pod"} {
		a := plan.PlannedArm{Arm: record.Arm{Name: name, Twin: name == plan.TwinName}}
		load.Arms = append(load.Arms, a)
		memory, err := counter.Create(1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { memory.Close() })
		l.instances.add(a, &instance{session: played{}, processes: session.Processes{Memory: memory}})
	}
	time.Sleep(launch)
	return l
}

// A launch after which no other one fits is measured until the time is up. A launch that another
// one follows has the blocks of the plan. The result decides one thing only: a run that is precise
// enough gets no further blocks.
func TestLastLaunchTakesTheRestOfTheTime(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name           string
		budget, launch time.Duration
		launched       int
		closing        time.Duration
		change         func(*loadRun)
		blocks         int
		last, follows  bool
	}{
		{name: "another launch fits, and measures for half as long as it takes", budget: 73 * s, launch: 22 * s, launched: 1, blocks: 6, follows: true},
		{name: "the arms take too long to close for another", budget: 73 * s, launch: 22 * s, launched: 1, closing: 2 * s, blocks: 17, last: true},
		{name: "no other launch fits", budget: 72 * s, launch: 22 * s, launched: 1, blocks: 16, last: true},
		{name: "four launches are there, another would measure for less than it takes", budget: 89 * s, launch: 22 * s, launched: 4, blocks: 22, last: true},
		{name: "four launches are there, another is worth it", budget: 90 * s, launch: 22 * s, launched: 4, blocks: 6, follows: true},
		{name: "the launches are fixed", budget: 100 * s, launch: 10 * s, launched: 2, change: func(l *loadRun) { l.schedule.plan.Generations = 2 }, blocks: 30, last: true},
		{name: "precise enough", budget: 70 * s, launch: 22 * s, launched: 1, blocks: 6, change: func(l *loadRun) {
			l.run.config.Decide = func(record.Workload, []record.Line) Decision { return Decision{Stop: true} }
		}},
		{name: "the first pass leaves the rest to the second", budget: 70 * s, launch: 22 * s, launched: 4, blocks: 6,
			change: func(l *loadRun) { l.schedule.question = []string{"host", plan.TwinName, "pod"} }},
		{name: "nothing is up that can be compared", budget: 70 * s, launch: 22 * s, launched: 4, blocks: 6, change: func(l *loadRun) { l.instances.arms = l.instances.arms[:2] }},
		{name: "the time ends before the blocks of the plan", budget: 33 * s, launch: 22 * s, launched: 1, blocks: 3, last: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := turnOf(t, c.budget, c.launch, 6)
			l.schedule.launches, l.schedule.closeTime = c.launched, c.closing
			if c.change != nil {
				c.change(l)
			}
			last, err := l.rotate(t.Context())
			if err != nil || last != c.last || l.schedule.another != c.follows || l.schedule.measured != c.blocks {
				t.Errorf("%s: %d blocks, last %v, another follows %v, %v; want %d, %v, %v",
					c.name, l.schedule.measured, last, l.schedule.another, err, c.blocks, c.last, c.follows)
			}
			if e := l.event("measure"); e.Block > e.Blocks {
				t.Errorf("%s: shown as block %d of %d", c.name, e.Block, e.Blocks)
			}
			if left := l.schedule.clock.left(); c.last && (left < 0 || left >= 3*s) {
				t.Errorf("%s: %v are left", c.name, left)
			}
		})
	}
}
