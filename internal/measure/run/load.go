package run

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// loadRun measures one workload of a run. Each of its parts changes only its own fields.
type loadRun struct {
	run       *runner
	load      *plan.Load
	number    int // of the workload in the plan, from 0
	schedule  schedule
	data      dataSets
	instances launchedInstances
	results   results
	between   betweenBlocks

	serverErrors map[string]bool // see warnOfServer
}

func newLoadRun(r *runner, load *plan.Load, number int) *loadRun {
	return &loadRun{
		run: r, load: load, number: number, schedule: newSchedule(r.config.Plan, load),
		results: results{config: &r.config, rec: &r.rec, workload: load.Workload},
	}
}

// execute measures the workload in one turn, launch after launch. how says why it ended:
// Config.reached, or the turn's "budget" is used up.
func (l *loadRun) execute(ctx context.Context) (how string, err error) {
	if err := l.prepareOnce(ctx); err != nil {
		return "", err
	}
	if l.schedule.piloted {
		l.schedule.allocate(false)
		l.showRoom(l.schedule.firstLaunch())
	}
	for {
		last, err := l.measureLaunch(ctx)
		if err != nil {
			return "", err
		}
		d := l.results.decide()
		l.run.showProgress(l.event("measure"))
		l.schedule.launch++
		l.schedule.learn(d)
		over := last || !l.schedule.another || l.schedule.ahead() < l.schedule.nextLaunch()
		opened := false
		if l.schedule.looks() && (over || l.enough(d)) {
			opened = l.schedule.decideLayers(d.Shown)
			over = last || l.schedule.clock.left() < l.schedule.nextLaunch()
		}
		switch {
		case !opened && !l.schedule.waiting() && l.enough(d):
			return l.run.config.reached(), nil
		case over:
			return "budget", nil
		}
		if err := l.lengthenIfNeeded(d); err != nil {
			return "", err
		}
		l.schedule.allocate(false)
		if opened {
			l.showRoom(l.schedule.firstLaunch())
		}
	}
}

// enough says whether the workload needs no further launch.
func (l *loadRun) enough(d Decision) bool {
	if decided := l.run.config.Decided; decided != nil {
		return decided(l.load.Workload, l.schedule.launch)
	}
	return d.Stop
}

// prepareOnce prepares the data sets in the first turn. Later turns use the same.
func (l *loadRun) prepareOnce(ctx context.Context) error {
	if l.data.prepared != nil {
		return nil
	}
	if err := l.checkBaselineRoom(); err != nil {
		return err
	}
	l.run.watchCache()
	return l.run.whileRoom(ctx, l.prepareData)
}

// lengthenIfNeeded chooses longer windows if the transparency check failed, or the two halves of an
// arm's windows differ.
func (l *loadRun) lengthenIfNeeded(d Decision) error {
	var why record.Said
	if d.Lengthen {
		why = d.Why
	}
	if _, uneven := l.results.halves.Uneven(); !uneven.IsZero() && l.schedule.plan.Window == 0 {
		why = uneven
	}
	if why.IsZero() || l.load.Stages.Windowed != nil {
		return nil
	}
	return l.lengthen(why)
}

// lengthen chooses the next longer window. The blocks with shorter windows stay in the record, but the
// analysis ignores them.
func (l *loadRun) lengthen(why record.Said) error {
	o, ok := l.schedule.lengthen()
	if !ok {
		return nil
	}
	next := l.schedule.lengths
	l.run.rec.warn(lengthened(why).of(l.load.Name, ""))
	return l.results.beginPilot(&record.Pilot{
		Workload: l.load.Name, Window: next.Window.Seconds(), Discard: next.Discard.Seconds(),
		Blocks: next.Blocks, Pause: o.Pause, Why: longerWindows(why),
	})
}

// measureLaunch launches the arms, measures blocks and closes the arms. last: the turn's time is over.
func (l *loadRun) measureLaunch(ctx context.Context) (last bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // runs after closeArms, because it ends the processes
	defer func() { err = errors.Join(l.run.roomFirst(ctx, err), l.results.flush(), l.closeArms()) }()
	l.schedule.measured, l.schedule.extended, l.results.steady = 0, 0, steadyRates{}
	if err := l.run.whileRoom(ctx, l.launch); err != nil {
		return false, err
	}
	l.run.watch.Settle()
	if err := l.pilotOnce(ctx); err != nil {
		return false, err
	}
	if err := l.warm(ctx); err != nil {
		return false, err
	}
	l.schedule.launches++
	if last, err = l.rotate(ctx); err != nil {
		return false, err
	}
	if line, ok := l.results.steady.check(l.load.Name, l.schedule.launch); ok {
		l.results.add(line)
	}
	_ = l.run.watch.Look() // records the lowest free space, before closing the arms frees some
	return last || l.schedule.clock.left() <= 0, nil
}

// pilotOnce runs the pilot in the first launch, unless a continued record has its result.
func (l *loadRun) pilotOnce(ctx context.Context) error {
	if l.schedule.piloted {
		return nil
	}
	if l.schedule.lengths.Window == 0 {
		if err := l.pilot(ctx); err != nil {
			return err
		}
	}
	l.schedule.observed.Launch, l.schedule.piloted = l.schedule.nextLaunch(), true
	l.schedule.allocate(true)
	l.showRoom(l.schedule.clock.spent())
	unmapProgram() // frees the program's pages that only launching and the pilot needed
	return nil
}

// showRoom tells whoever watches if this turn has room for fewer launches than a verdict needs, with the budget that would
// do. before is the time of this turn until the first window.
func (l *loadRun) showRoom(before time.Duration) {
	s := &l.schedule
	if s.waiting() || s.plan.Generations > 0 || l.run.config.Earlier != nil || s.lengths.Generations >= metric.LeastLaunches || len(l.load.Arms) <= 2 {
		return
	}
	enough := plan.Enough(s.planningInput(), s.lengths, before+s.spent)
	e := l.event("measure")
	e.Note = messages.Say("launches.room", "n", s.lengths.Generations, "least", metric.LeastLaunches, "flag", experiment.BudgetFlag(enough.Seconds()*s.plan.Record.Budget/l.load.Budget))
	l.run.showProgress(e)
}

// warm lets each arm run alone for a moment before anything counts: until then the loads shared the
// CPUs, and in the first milliseconds an arm fills CPU caches, more so if it has files of its own.
func (l *loadRun) warm(ctx context.Context) error {
	if l.load.Stages.Windowed != nil {
		return nil
	}
	began := time.Now()
	_, err := l.block(ctx, warmBlock)
	l.results.steady = steadyRates{}
	l.schedule.launchTime += time.Since(began) // every launch needs it
	return err
}

// betweenBlocks limits how often tare shows progress, decides and frees memory between blocks.
type betweenBlocks struct {
	shown               time.Time // when progress was last shown
	deciding, freeingUp rationed
}

// workBetweenBlocks writes the record, collects garbage and shows progress while no window is open.
func (l *loadRun) workBetweenBlocks() error {
	if time.Since(l.results.flushed) > syncEvery {
		if err := l.results.flush(); err != nil {
			return err
		}
	}
	if l.run.config.Progress != nil {
		l.between.deciding.do(func() { l.results.decide() })
	}
	l.between.freeingUp.do(debug.FreeOSMemory)
	l.showProgressAtTimes(l.event("measure"))
	return nil
}

// rationed skips work so that it takes at most about rationedShare of the time.
type rationed struct {
	ended time.Time
	took  time.Duration
}

const rationedShare = 0.02

func (r *rationed) do(work func()) {
	began := time.Now()
	if float64(began.Sub(r.ended))*rationedShare < float64(r.took) {
		return
	}
	work()
	r.ended = time.Now()
	r.took = r.ended.Sub(began)
}

// showProgressAtTimes shows progress, but not after every window of a few milliseconds.
func (l *loadRun) showProgressAtTimes(e Event) {
	const every = 100 * time.Millisecond
	if now := time.Now(); now.Sub(l.between.shown) >= every {
		l.between.shown = now
		l.run.showProgress(e)
	}
}

// event returns the progress of the workload.
func (l *loadRun) event(phase string) Event {
	s := &l.schedule
	return Event{
		Workload: l.load.Name, Number: l.number + 1, Of: len(l.run.config.Plan.Loads), Phase: phase, Pass: s.pass, Passes: s.passes,
		Generation: s.launch, Block: s.measured, Blocks: s.blocks(), Dropped: l.results.dropped, Arms: l.results.effects,
		Elapsed: s.clock.spent(), Remaining: s.clock.left(),
	}
}
