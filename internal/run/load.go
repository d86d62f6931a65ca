package run

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/tarelab/tare/internal/dataset"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// loadRun is the state of one workload's part of a run.
type loadRun struct {
	*runner
	load   *plan.Load
	number int
	began  time.Time
	budget time.Duration

	data       map[string]dataset.Prepared // data sets by their key
	arms       []*arm                      // of the present generation
	sites      []*site                     // on which they run
	volumes    volumes                     // and what their data is on
	generation int
	failures   map[string]int
	gaveUp     map[string]bool
	launchTime time.Duration

	observed plan.Observed
	lengths  plan.Lengths
	limits   limits
	lines    []record.Line // pilot, blocks and checks since the last pilot, as kept
	running  []Running
	dropped  int
	measured int // blocks of this generation so far

	deciding, collecting breath
}

// execute measures the workload until its width or its budget is reached, and
// says which: "precision" or "budget".
func (l *loadRun) execute(ctx context.Context) (how string, err error) {
	l.failures, l.gaveUp = map[string]int{}, map[string]bool{}
	if err := l.roomAtAll(); err != nil {
		return "", err
	}
	release, err := l.prepare(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	longest := time.Duration(0) // generation so far
	for {
		began := time.Now()
		last, err := l.generationOnce(ctx)
		if err != nil {
			return "", err
		}
		longest = max(longest, time.Since(began))
		l.generation++
		d := l.Decide(l.load.Workload, l.lines)
		l.running = d.Arms
		l.event(l.at("measure"))
		switch {
		case d.Stop:
			return "precision", nil
		case last:
			return "budget", nil
		case l.Plan.Generations > 0 && l.generation >= l.Plan.Generations:
			return "budget", nil
		case d.Lengthen && l.lengthen(d.Why):
		}
		if l.left() < l.launchTime+l.blockTime()*minTail {
			return "budget", nil
		}
	}
}

// minTail is the least number of blocks that make another launch worth it.
const minTail = 2

// generationOnce launches the arms, measures blocks and ends the arms. It says
// whether the time ran out.
func (l *loadRun) generationOnce(ctx context.Context) (last bool, err error) {
	defer func() { err = errors.Join(err, l.closeArms()) }()
	l.measured = 0
	if err := l.launch(ctx, l.generation); err != nil {
		return false, err
	}
	if l.generation == 0 {
		if err := l.pilot(ctx); err != nil {
			return false, err
		}
	}
	for b := 0; b < l.blocks(); b++ {
		if l.left() < l.blockTime() && b > 0 {
			return true, nil
		}
		steady := b == 0 && l.Plan.Window == 0 && l.load.Stages.Windowed == nil
		block, check, err := l.block(ctx, b, steady)
		if err != nil {
			return false, err
		}
		lines := []record.Line{{Block: block}}
		if check != nil {
			lines = append(lines, record.Line{Check: check})
		}
		for _, line := range lines {
			if l.Keep != nil {
				line = l.Keep(l.load.Workload, line)
			}
			l.lines = append(l.lines, line)
		}
		if err := l.append(lines...); err != nil {
			return false, err
		}
		l.measured = b + 1
		l.breathe()
	}
	return l.left() <= 0, nil
}

// blocks is how many blocks this generation gets: what is planned, or what the
// time allows when there is only one launch.
func (l *loadRun) blocks() int { return l.lengths.Blocks }

// share is the part of the time that the effects so far, and garbage, may each
// take: measuring is what a run is for.
const share = 0.02

// breath is something done between blocks: as often as its share of the time
// lets it.
type breath struct {
	ended time.Time
	took  time.Duration
}

func (b *breath) due(do func()) {
	began := time.Now()
	if float64(began.Sub(b.ended))*share < float64(b.took) {
		return
	}
	do()
	b.ended = time.Now()
	b.took = b.ended.Sub(began)
}

// breathe collects garbage and shows progress while no window is open.
func (l *loadRun) breathe() {
	if l.Progress != nil {
		l.deciding.due(func() { l.running = l.Decide(l.load.Workload, l.lines).Arms })
	}
	l.collecting.due(runtime.GC)
	l.event(l.at("measure"))
}

func (l *loadRun) left() time.Duration { return l.budget - time.Since(l.began) }

// blockTime is what a block of this generation takes.
func (l *loadRun) blockTime() time.Duration {
	return time.Duration(len(l.load.Arms)) * (l.lengths.Window + l.lengths.Discard + l.observed.Switch)
}

// lengthen doubles the window after a failed transparency check. What was
// measured with the shorter one no longer counts; it stays in the record.
func (l *loadRun) lengthen(why string) bool {
	o := l.observed
	o.Budget = l.left()
	next, ok := plan.Longer(o, l.lengths)
	if !ok {
		return false
	}
	l.lengths = next
	p := &record.Pilot{
		Workload: l.load.Name, Window: next.Window.Seconds(), Discard: next.Discard.Seconds(),
		Blocks: next.Blocks, Pause: o.Pause, Why: "window doubled: " + why, Foreign: l.limits.foreign, Steal: l.limits.steal,
	}
	l.lines = []record.Line{{Pilot: p}}
	l.warn(record.Warning{
		Workload: l.load.Name, Text: "the window was doubled and measuring began again: " + why,
		Remedy: "give the run a longer --budget, or fix the window in the experiment",
	})
	return l.append(record.Line{Pilot: p}) == nil
}

// at is an event of this workload now.
func (l *loadRun) at(phase string) Event {
	return Event{
		Workload: l.load.Name, Number: l.number + 1, Of: len(l.Plan.Loads), Phase: phase,
		Generation: l.generation, Block: l.measured, Blocks: l.lengths.Blocks, Dropped: l.dropped, Arms: l.running,
		Elapsed: time.Since(l.began), Left: l.left(),
	}
}
