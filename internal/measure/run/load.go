package run

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// loadRun is the state of one workload's part of a run.
type loadRun struct {
	*runner
	load   *plan.Load
	number int
	share  time.Duration // of the budget of the run
	spent  time.Duration // in earlier turns
	over   error         // why it is left out; nil: it is not
	ended  string        // how its last turn ended, see execute

	question []string // arms of the first pass, while that lasts; nil: all
	passes   int
	pass     int       // this turn, from 1
	began    time.Time // this turn
	budget   time.Duration

	data       map[string]dataset.Prepared // data sets by their key; nil: not prepared
	held       []func()                    // that keep them in the cache
	arms       []*arm                      // of the present generation
	sites      []*site                     // on which they run
	volumes    volumes                     // and what their data is on
	layers     []string                    // of these arms, that are watched for room
	generation int
	from       int  // the first launch of this run, of the record's
	known      bool // the arms have been launched, read back and seen by a pilot
	trying     bool // the first launch goes on: what fails is tried again
	failures   map[string]int
	gaveUp     map[string]bool
	launchTime time.Duration
	closeTime  time.Duration // of the arms of the last launch
	launched   int           // in this turn
	follows    bool          // another launch

	observed plan.Observed
	lengths  plan.Lengths
	noise    float64       // of two windows of a block, as the pilot saw it
	lines    []record.Line // pilot, blocks and checks since the last pilot, as kept
	pending  []record.Line // measured, and not yet in the record
	flushed  time.Time     // when the record last was
	halves   plan.Halves
	steady   steady
	running  []Running
	dropped  int
	measured int // blocks of this generation so far
	extended int // blocks that it is to have; 0: as many as were planned
	told     time.Time

	deciding, collecting breath
}

// steady is what the baseline did in one launch: in its windows, and while it ran
// on without a freeze.
type steady struct{ seconds, ops, rate float64 }

// execute measures the workload in one turn until its width or its budget is
// reached, and says which: "precision" or "budget".
func (l *loadRun) execute(ctx context.Context) (how string, err error) {
	l.pass++
	l.launched = 0
	if err := l.ready(ctx); err != nil {
		return "", err
	}
	if l.known {
		l.allocate()
	}
	for {
		last, err := l.generationOnce(ctx)
		if err != nil {
			return "", err
		}
		d := l.Decide(l.load.Workload, l.lines)
		l.running = d.Arms
		l.event(l.at("measure"))
		l.generation++
		switch {
		case d.Stop && l.question == nil:
			return "precision", nil
		case last || !l.follows || l.remaining() < l.launchTime:
			return "budget", nil
		}
		if err := l.judge(d); err != nil {
			return "", err
		}
	}
}

// ready prepares what the first turn needs and the others keep.
func (l *loadRun) ready(ctx context.Context) error {
	if l.data != nil {
		return nil
	}
	if err := l.roomAtAll(); err != nil {
		return err
	}
	l.watchCache()
	return l.whileRoom(ctx, l.prepare)
}

// release gives up what ready holds.
func (l *loadRun) release() {
	for _, r := range l.held {
		r()
	}
	l.held = nil
}

// allocate divides the time of this turn among its arms.
func (l *loadRun) allocate() {
	o := l.ahead() // its launch is one of all arms
	o.Stands = len(l.arms) > 0
	l.lengths, _ = plan.Allocate(o, l.lengths, l.noise, plan.Lengths{Generations: l.Plan.Generations})
}

// ahead is what was seen of the workload, and the time that this turn has left.
func (l *loadRun) ahead() plan.Observed {
	o := l.observed
	o.Stands, o.Budget, o.Arms = false, l.remaining(), l.inBlock()
	if l.question != nil {
		o.Launches = plan.FirstPassLaunches
	}
	return o
}

// inBlock is how many arms two blocks of this pass have, halved.
func (l *loadRun) inBlock() int {
	if l.question != nil {
		return len(l.question)
	}
	n := len(l.load.Arms) - len(l.gaveUp)
	if q := l.alone(); q != nil {
		n = (n + len(q) + 1) / 2
	}
	return n
}

// alone is the arms of every second block; nil: all, also when the question was given up.
func (l *loadRun) alone() []string {
	if l.gaveUp[l.load.Workload.Question] {
		return nil
	}
	return l.Plan.QuestionBlocks(l.load)
}

// judge takes longer windows where what was measured shows that they are needed.
func (l *loadRun) judge(d Decision) error {
	why := ""
	if d.Lengthen {
		why = d.Why
	}
	if _, uneven := l.halves.Uneven(); uneven != "" && l.Plan.Window == 0 {
		why = uneven
	}
	if why == "" || l.load.Stages.Windowed != nil {
		return nil
	}
	return l.lengthen(why)
}

// generationOnce launches the arms, measures blocks and ends the arms. It says
// whether the time ran out.
func (l *loadRun) generationOnce(ctx context.Context) (last bool, err error) {
	ctx, over := context.WithCancel(ctx)
	defer over() // after the arms, whose processes it would end
	defer func() { err = errors.Join(l.ofRoom(ctx, err), l.flush(), l.closeArms()) }()
	l.measured, l.extended, l.steady = 0, 0, steady{}
	if err := l.whileRoom(ctx, func(ctx context.Context) error { return l.launch(ctx, l.generation) }); err != nil {
		return false, err
	}
	l.watch.Settle()
	if !l.known {
		if l.lengths.Window == 0 {
			if err := l.pilot(ctx); err != nil {
				return false, err
			}
		}
		l.observed.Launch, l.known = l.launchTime, true
		l.allocate()
		unmapProgram() // what launching and the pilot needed of it
	}
	if err := l.warm(ctx); err != nil {
		return false, err
	}
	l.launched++
	if last, err = l.rotate(ctx); err != nil {
		return false, err
	}
	if l.steady.rate > 0 {
		l.take(record.Line{Check: &record.Check{
			Workload: l.load.Name, Generation: l.generation, Kind: "transparency",
			Rotated: l.steady.ops / l.steady.seconds, Steady: l.steady.rate,
		}})
	}
	_ = l.watch.Look() // for the lowest: what follows frees room
	return last || l.remaining() <= 0, nil
}

// warm visits every arm of the pass once before anything counts. While the loads
// settled they shared the CPUs: the first time that an arm has them for itself it
// fills caches, and an arm whose files are elsewhere fills more of them. Windows that
// are much longer than that hold it without harm.
func (l *loadRun) warm(ctx context.Context) error {
	if l.lengths.Window > longWindow || l.load.Stages.Windowed != nil {
		return nil
	}
	began := time.Now()
	_, err := l.block(ctx, warmBlock)
	l.steady = steady{}
	l.launchTime += time.Since(began) // which another launch would take too
	return err
}

const (
	longWindow = 100 * time.Millisecond
	warmBlock  = -1
)

// take keeps a line for the record and for Decide.
func (l *loadRun) take(line record.Line) {
	l.pending = append(l.pending, line)
	l.keepLine(line)
}

// keepLine keeps what Decide needs of a line.
func (l *loadRun) keepLine(line record.Line) {
	if l.Keep != nil {
		line = l.Keep(l.load.Workload, line)
	}
	l.lines = append(l.lines, line)
}

// syncEvery is how much measuring a killed run can lose: short blocks are brought
// to the disk several at a time, for that takes as long as a window.
const syncEvery = 200 * time.Millisecond

// flush writes what was measured to the record.
func (l *loadRun) flush() error {
	lines := l.pending
	l.pending, l.flushed = nil, time.Now()
	if len(lines) == 0 {
		return nil
	}
	return l.append(lines...)
}

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

// breathe writes, collects garbage and shows progress while no window is open.
func (l *loadRun) breathe() error {
	if time.Since(l.flushed) > syncEvery {
		if err := l.flush(); err != nil {
			return err
		}
	}
	if l.Progress != nil {
		l.deciding.due(func() { l.running = l.Decide(l.load.Workload, l.lines).Arms })
	}
	l.collecting.due(debug.FreeOSMemory)
	l.tell(l.at("measure"))
	return nil
}

// tellEvery is how often progress is told between windows.
const tellEvery = 100 * time.Millisecond

// tell is event, but not after every window of a few milliseconds.
func (l *loadRun) tell(e Event) {
	if now := time.Now(); now.Sub(l.told) >= tellEvery {
		l.told = now
		l.event(e)
	}
}

func (l *loadRun) remaining() time.Duration { return l.budget - time.Since(l.began) }

// slotTime is what a window takes, with all that goes with it.
func (l *loadRun) slotTime() time.Duration {
	return l.lengths.Window + l.lengths.Discard + l.observed.Switch
}

// lengthen takes the next longer window. What was measured with the shorter one no
// longer counts; it stays in the record.
func (l *loadRun) lengthen(why string) error {
	o := l.ahead()
	next, ok := plan.Longer(o, l.lengths)
	if !ok {
		return nil
	}
	l.lengths, l.halves = next, plan.Halves{}
	p := &record.Pilot{
		Workload: l.load.Name, Window: next.Window.Seconds(), Discard: next.Discard.Seconds(),
		Blocks: next.Blocks, Pause: o.Pause, Why: "longer windows: " + why,
	}
	l.lines = []record.Line{{Pilot: p}}
	l.warn(record.Warning{
		Workload: l.load.Name, Text: "windows were made longer and measuring began again: " + why,
		Remedy: "give the run a longer --budget, or fix the window in the experiment",
	})
	return l.append(record.Line{Pilot: p})
}

// at is an event of this workload now.
func (l *loadRun) at(phase string) Event {
	return Event{
		Workload: l.load.Name, Number: l.number + 1, Of: len(l.Plan.Loads), Phase: phase, Pass: l.pass, Passes: l.passes,
		Generation: l.generation, Block: l.measured, Blocks: max(l.lengths.Blocks, l.extended), Dropped: l.dropped, Arms: l.running,
		Elapsed: time.Since(l.began), Remaining: l.remaining(),
	}
}
