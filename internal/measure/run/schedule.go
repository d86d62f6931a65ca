package run

import (
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// schedule chooses, for one workload, the passes, launches, blocks, arms of each block and lengths of
// windows, and keeps the time that is left. It touches no process and writes nothing. A turn is the
// time of one workload in one pass.
type schedule struct {
	plan *plan.Plan
	load *plan.Load

	share     time.Duration // the workload's part of the run's budget
	spent     time.Duration // in earlier turns
	skipped   error         // why the workload is skipped; nil: it is measured
	endReason string        // why its last turn ended, see execute

	// question names the arms that are measured, as long as the others wait; nil: all arms are measured.
	question []string
	closed   bool          // the question is not shown, and the others wait until the end
	openAt   time.Duration // of this turn: when the question is looked at, to decide about the others
	passes   int
	pass     int   // of this turn, from 1
	clock    clock // of this turn

	launch     int             // number of the present launch: record.Generation.Number
	launches   int             // in this turn
	shorter    int             // launches of this turn with shorter windows, which do not count
	launchTime time.Duration   // of the last launch, until its arms were warm
	making     time.Duration   // of launchTime: what the arms keep, and the next launch saves
	closeTime  time.Duration   // of the arms of the last launch
	launchSD   float64         // of an arm's launch effect, in logs, as measured so far; 0: not known yet
	another    bool            // another launch follows in this turn
	piloted    bool            // all arms were launched, read back and seen by the pilot
	failures   map[string]int  // by arm
	givenUp    map[string]bool // arms that failed too often to be launched again

	observed plan.Observed
	lengths  plan.Lengths
	noise    float64 // SD of the log ratio of two windows: as the pilot saw it, then as the launches did
	measured int     // blocks of this launch so far
	longest  int     // blocks of the longest launch before
	extended int     // blocks of this launch after extend; 0: it was not extended
}

func newSchedule(p *plan.Plan, load *plan.Load) schedule {
	s := schedule{
		plan: p, load: load, share: seconds(load.Budget), passes: 1, question: p.FirstPass(load),
		failures: map[string]int{}, givenUp: map[string]bool{},
	}
	if s.question != nil {
		s.passes = 2
	}
	return s
}

// beginTurn begins a turn that may take budget.
func (s *schedule) beginTurn(budget time.Duration) {
	s.clock, s.launches, s.shorter = startClock(budget), 0, 0
	if s.pass++; s.looks() {
		all := s.spent + budget
		s.openAt = min(time.Duration(plan.QuestionShare*float64(all)), all-s.leastShare()) - s.spent
	}
}

// looks says whether this turn looks at the question later on, to decide about the other arms.
func (s *schedule) looks() bool { return s.waiting() && s.pass == s.passes }

// waiting says whether the other arms wait for an answer to the question.
func (s *schedule) waiting() bool { return s.question != nil && !s.closed }

// decideLayers decides whether the other arms are measured in the rest of the turn: where the question is shown and they can
// be told apart in that time, or where it was given up.
func (s *schedule) decideLayers(shown []Found) (opened bool) {
	if !slices.ContainsFunc(shown, s.divides) && !s.givenUp[s.load.Workload.Question] {
		s.closed = true
		return false
	}
	s.question, s.launches, s.shorter = nil, 0, 0
	return true
}

// divides says whether the rest of the turn can divide an effect among the layers: whether the effect is at least as large
// as the half-width that the interval of a layer would have. A smaller effect leaves every layer undecided.
func (s *schedule) divides(f Found) bool {
	o := s.inputOfAllArms()
	o.LaunchSD = f.LaunchSD
	return plan.StepHalf(o, s.lengths, f.Pair, len(s.load.Arms)-len(s.givenUp)) <= f.Effect
}

// inputOfAllArms is planningInput as it would be if the other arms waited no longer.
func (s *schedule) inputOfAllArms() plan.Observed {
	all := *s
	all.question, all.launches, all.shorter = nil, 0, 0
	return all.planningInput()
}

// beginSecondPass ends the first pass: from now on all arms are measured, or the question until it is answered. It returns
// the workload's new share, which is the rest of the old one times weight.
func (s *schedule) beginSecondPass(weight float64) (share time.Duration) {
	if !s.load.LayersOnLoss {
		s.question = nil
	}
	s.share = time.Duration(weight * float64(s.shareLeft()))
	return s.share
}

// shareLeft is what is left of the workload's share.
func (s *schedule) shareLeft() time.Duration { return max(s.share-s.spent, 0) }

// leastShare is the share in which the workload has the launches that a verdict needs, after a first pass, by its launch and by
// those of earlier runs; 0: not known, or the experiment fixes the launches.
func (s *schedule) leastShare() time.Duration {
	if !s.piloted || s.plan.Generations > 0 || s.skipped != nil {
		return 0
	}
	o := s.inputOfAllArms()
	return max(plan.Enough(o, s.lengths, o.Launch+s.closeTime), s.plan.LeastSecond(s.load))
}

// ahead is the time that is left of the turn, or until the question is looked at.
func (s *schedule) ahead() time.Duration {
	if s.looks() {
		return s.openAt - s.clock.spent()
	}
	return s.clock.left()
}

// countFailure counts a failure of an arm, and says whether the arm has now failed mostFailures times.
func (s *schedule) countFailure(arm string) (last bool) {
	s.failures[arm]++
	return s.failures[arm] >= mostFailures
}

// instancesToLaunch returns the instances of a launch, without the arms that were given up.
func (s *schedule) instancesToLaunch() []plan.Instance {
	var instances []plan.Instance
	for _, x := range plan.Instances(s.load.Arms) {
		x.Arms = slices.DeleteFunc(x.Arms, func(a plan.PlannedArm) bool { return s.givenUp[a.Name] || !s.hasArm(a.Name) })
		if !slices.ContainsFunc(x.Arms, func(a plan.PlannedArm) bool { return a.Neighbour != nil }) {
			x.Neighbour = nil
		}
		if len(x.Arms) > 0 {
			instances = append(instances, x)
		}
	}
	return instances
}

// hasArm says whether a launch has the arm. The first launch has all arms, so that all are read
// back and seen by the pilot; later ones have those of the question as long as the others wait.
func (s *schedule) hasArm(arm string) bool {
	return s.question == nil || !s.piloted || slices.Contains(s.question, arm)
}

// armsOfBlock returns those of the running arms that a block measures. In the second pass every
// other block has the question's arms only, as long as the question itself is running.
func (s *schedule) armsOfBlock(number int, running []*arm) []*arm {
	names := s.question
	isQuestion := func(a *arm) bool { return a.planned.Name == s.load.Workload.Question }
	if names == nil && number%2 == 1 && slices.ContainsFunc(running, isQuestion) {
		names = s.questionBlocks()
	}
	if names == nil {
		return slices.Clone(running)
	}
	return slices.DeleteFunc(slices.Clone(running), func(a *arm) bool { return !slices.Contains(names, a.planned.Name) })
}

// questionBlocks returns the names of the arms in every other block of the second pass; nil: all blocks
// have all arms, as after the question was given up.
func (s *schedule) questionBlocks() []string {
	if s.givenUp[s.load.Workload.Question] {
		return nil
	}
	return s.plan.QuestionBlocks(s.load)
}

// armsInBlock returns how many arms a block of this pass has, on average.
func (s *schedule) armsInBlock() int {
	if s.question != nil {
		return len(s.question)
	}
	n := len(s.load.Arms) - len(s.givenUp)
	if names := s.questionBlocks(); names != nil {
		n = (n + len(names) + 1) / 2
	}
	return n
}

// slotTime is the time that a window takes, with its settle time and the switch between two arms.
func (s *schedule) slotTime() time.Duration {
	return s.lengths.Window + s.lengths.Discard + s.observed.Switch
}

// hasTimeFor says whether a block with this number of arms fits into the rest of the turn.
func (s *schedule) hasTimeFor(arms int) bool {
	return s.clock.left() >= time.Duration(arms)*s.slotTime()
}

// leastSettle is the shortest settle time that the load allows; 0 if the experiment fixes one.
func (s *schedule) leastSettle() time.Duration {
	if s.plan.Discard > 0 {
		return 0
	}
	return s.load.Settle()
}

// fixed returns the lengths that the experiment fixes; zero fields are free.
func (s *schedule) fixed() plan.Lengths {
	return plan.Lengths{Window: s.plan.Window, Discard: s.plan.Discard, Generations: s.plan.Generations}
}

// planningInput returns what the pilot observed, with the remaining time and the arms of this turn.
func (s *schedule) planningInput() plan.Observed {
	o := s.observed
	o.Stands, o.Budget, o.Arms = false, s.ahead(), s.armsInBlock()
	o.Made, o.LaunchSD = s.counting(), s.launchSD
	if o.Launch = s.nextLaunch() + s.closeTime; s.launches == 0 { // the last launch had the arms of another turn
		o.Launch = s.firstLaunch()
	}
	if s.question != nil && s.pass < s.passes {
		o.Launches = plan.FirstPassLaunches
	}
	return o
}

// nextLaunch is the expected time of the next launch of this turn, by that of the last one.
func (s *schedule) nextLaunch() time.Duration { return max(s.launchTime-s.making, 0) }

// firstLaunch is the expected time of a launch of this turn before there was one: the part of its arms of
// the launch of all arms that the pilot saw, and the time in which they get warm.
func (s *schedule) firstLaunch() time.Duration {
	arms, all := len(s.question), len(s.load.Arms)
	if s.question == nil {
		arms = all - len(s.givenUp)
	}
	return s.observed.Launch*time.Duration(arms)/time.Duration(max(all, 1)) + s.warmTime(arms)
}

// warmTime is the time in which the arms of a launch get warm, one after the other.
func (s *schedule) warmTime(arms int) time.Duration {
	if s.load.Stages.Windowed != nil {
		return 0
	}
	return time.Duration(arms) * warmLength
}

// allocate divides the rest of the turn into launches and blocks, by the launch effects that were
// measured so far. launched says that the arms of the first of these launches run already.
func (s *schedule) allocate(launched bool) {
	o, fixed := s.planningInput(), plan.Lengths{}
	o.Stands = launched
	if n := s.plan.Generations; n > 0 {
		fixed.Generations = max(1, n-s.counting())
	}
	s.lengths, _ = plan.Allocate(o, s.lengths, s.noise, fixed)
	if s.longest = max(s.longest, s.measured); s.longest > 0 {
		s.lengths.Blocks = min(s.lengths.Blocks, longerThan*s.longest)
	}
}

// longerThan bounds how many times as long as all launches before a launch may be: the interval of a run with one launch of
// 60 blocks after two of three misses 9 % of the time (stat.TestUnequalLaunches).
const longerThan = 3

// learn takes over what the windows and launches so far say about their scatter: the pilot saw the baseline alone, for a
// fraction of a second.
func (s *schedule) learn(d Decision) {
	s.launchSD = d.LaunchSD
	sum, n := 0.0, 0.0
	for _, a := range d.Arms {
		if a.Pair > 0 && (s.load.Subject == "" || a.Arm == s.load.Subject) {
			sum, n = sum+a.Pair*a.Pair, n+1
		}
	}
	if n > 0 {
		s.noise = math.Sqrt(sum / n)
	}
}

// worthAnother says whether one more launch is worth its time in this turn. Launching and closing the
// arms are assumed to take as long as the last time.
func (s *schedule) worthAnother() bool {
	if n := s.plan.Generations; n > 0 && s.counting() >= n {
		return false
	}
	o := s.planningInput()
	o.Budget -= s.closeTime
	o.Launch = s.nextLaunch()
	return plan.Another(o, s.lengths, s.counting())
}

// extend gives the present launch as many blocks as fit into the rest of the turn.
func (s *schedule) extend() {
	s.extended = s.lengths.Blocks + int(s.clock.left()/(time.Duration(s.armsInBlock())*s.slotTime()))
}

// blocks is the number of blocks that the present launch will have.
func (s *schedule) blocks() int { return max(s.lengths.Blocks, s.extended) }

// lengthen chooses the next longer window and says whether there is one that fits.
func (s *schedule) lengthen() (o plan.Observed, ok bool) {
	o = s.planningInput()
	next, ok := plan.Longer(o, s.lengths)
	if ok {
		s.lengths, s.shorter = next, s.launches
	}
	return o, ok
}

// counting is how many launches of this turn count: those since the windows were made longer.
func (s *schedule) counting() int { return s.launches - s.shorter }

// warmBlock is the number of the block that warms the arms after a launch. It does not count.
const warmBlock = -1

// warmLength is the length of its windows, in which each arm runs alone. The scheduler moves the threads of
// a new process for some 100 ms: after 20 ms launches of rpc differed by 6 to 20 % (standard deviation), after
// 60 ms by 8 %, after 150 ms by 2 %; of oltp-read-write by 5 and 0 % after 20 and 150 ms (docs/method.md).
const warmLength = 150 * time.Millisecond

// windowSpec describes the windows of a block. The baseline may run on after its own.
func (s *schedule) windowSpec(block int, isBaseline bool) wire.WindowSpec {
	w := wire.WindowSpec{
		Seed:    plan.ArrivalSeed(s.plan.Record.Seed, s.load.Name, s.launch, block),
		Discard: s.lengths.Discard, Length: s.lengths.Window, Whole: s.wholeWindows(block),
	}
	if block == warmBlock {
		w.Discard, w.Length = 0, warmLength
	}
	if isBaseline && s.hasSteady(block) {
		w.Steady = s.steadyLength()
	}
	return w
}

// steadyLength is how long the baseline runs on without a freeze for the transparency check: several
// windows long.
func (s *schedule) steadyLength() time.Duration {
	return min(max(3*s.lengths.Window, 300*time.Millisecond), 4*time.Second)
}

// steadyLaunches: the first launch and every one after so many has a transparency check.
const steadyLaunches = 4

// hasSteady says whether the baseline runs on without a freeze after its window of this block: once in the first and every
// fourth launch, in its middle, so that it is compared with windows before and after.
func (s *schedule) hasSteady(block int) bool {
	if s.launch > 0 && (s.launch+1)%steadyLaunches != 0 {
		return false
	}
	return block == s.lengths.Blocks/2 && s.plan.Window == 0 && s.load.Stages.Windowed == nil
}

// wholeWindows says whether the windows of a block have no mark in the middle. The mark takes half of
// tare's own CPU time in short windows, and a third of the blocks suffices to compare the halves of
// windows. block/2: a block of all arms and the question's block after it are treated alike.
func (s *schedule) wholeWindows(block int) bool {
	const short = 50 * time.Millisecond
	return s.lengths.Window < short && block/2%3 != 0
}

// resumePilot takes the lengths from the pilot of the record that this run continues.
func (s *schedule) resumePilot(p *record.Pilot) {
	s.lengths = plan.Lengths{Window: seconds(p.Window), Discard: seconds(p.Discard), Blocks: p.Blocks}
	s.observed = plan.Observed{Pause: p.Pause, Arms: len(s.load.Arms), Least: s.load.Shortest(), Settle: s.leastSettle()}
	s.noise = plan.NoiseOf(p.Slots, s.lengths.Window)
}

// resumeBlock computes, from a block of that record, the mean time of a switch between two arms.
func (s *schedule) resumeBlock(b *record.Block) {
	n := len(b.Windows)
	if n < 2 {
		return
	}
	each := (b.Windows[n-1].Start - b.Windows[0].Start) / float64(n-1)
	s.observed.Switch = max(0, seconds(each)-s.lengths.Window-s.lengths.Discard)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
