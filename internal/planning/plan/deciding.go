package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/wire/metric"
)

// Deciding returns the least budget in which every arm has the launches that a verdict needs
// (metric.LeastLaunches), each with its least time of measuring: by what is known of the loads, and of the
// others (Unknown) the least that any host needs. False: the experiment fixes fewer launches.
func (p *Plan) Deciding() (time.Duration, bool) {
	if p.Generations > 0 && p.Generations < metric.LeastLaunches {
		return 0, false
	}
	most := 0.0
	for i := range p.Loads {
		l := &p.Loads[i]
		most = max(most, p.turn(l, max(p.Generations, metric.LeastLaunches)).Seconds()*p.Record.Budget/l.Budget)
	}
	return time.Duration(math.Ceil(most)) * time.Second, true
}

// Launches is how many launches of each arm the budget has room for, of the load with the fewest, at most
// metric.LeastLaunches.
func (p *Plan) Launches() int {
	least := metric.LeastLaunches
	for i := range p.Loads {
		for least > 1 && p.turn(&p.Loads[i], least) > seconds(p.Loads[i].Budget) {
			least--
		}
	}
	return least
}

// Unknown are the names of the loads of which no earlier run on this host is known.
func (p *Plan) Unknown() (names []string) {
	for i := range p.Loads {
		if p.Loads[i].Known == nil {
			names = append(names, p.Loads[i].Name)
		}
	}
	return names
}

// pace is how long the parts of a load's turn take.
type pace struct {
	begin  time.Duration // until the first window, with the first launch
	launch time.Duration // of all arms, from the last window of the launch before
	block  time.Duration // of all arms
}

// measuring is the least time of measuring in a launch.
func (t pace) measuring() time.Duration { return max(leastBlocks*t.block, t.launch/2) }

// slower is by how much launches may take longer than in the runs that are known.
const slower = 1.25

// paceOf is the pace that is known of a load, or the least that it can be.
func (p *Plan) paceOf(l *Load) pace {
	arms := time.Duration(len(l.Arms))
	if few := p.QuestionBlocks(l); few != nil { // every second block has these arms only
		arms = (arms + time.Duration(len(few)) + 1) / 2
	}
	window := cmp.Or(p.Window, max(usualWindow, l.Shortest()))
	slot := window + cmp.Or(p.Discard, max(usualSettle(window), l.Settle())) + assumedSwitch
	if k := l.Known; k != nil {
		return pace{seconds(k.Data + slower*k.Begin), seconds(slower * k.Launch), arms * max(slot, seconds(l.leastSlot()))}
	}
	launch := launchOf(l)
	return pace{leastLoad + launch, launch, arms * slot}
}

// leastSlot is the length in seconds to which the windows of a known load can be shortened where a budget is short, with
// settle time and switch: until the slowest arm has fewOps operations in one.
func (l *Load) leastSlot() float64 {
	k := l.Known
	if l.Stages.Windowed != nil || k.Operations == 0 {
		return k.Slot
	}
	return k.Slot * min(1, fewOps*k.Windows/k.Operations)
}

const (
	// usualWindow is the length of windows until a pilot chooses.
	usualWindow = 100 * time.Millisecond
	// assumedSwitch is the time that a window takes beyond its length and its settle time, until a pilot has measured it.
	assumedSwitch = 10 * time.Millisecond
	// podArm is the least time of a pod's launch: the cluster makes it, and its agent is connected.
	podArm = 2 * time.Second
)

// launchOf is the least time of a launch of a load.
func launchOf(l *Load) (total time.Duration) {
	for _, a := range l.Arms {
		least := leastArm
		if a.Env != nil && a.Env.Capabilities().Pod {
			least = podArm
		}
		total += least
	}
	return total
}

// turn is the least time of a load with so many launches of all arms. With two passes all arms are launched so often in
// the second one.
func (p *Plan) turn(l *Load, launches int) time.Duration {
	t, n := p.paceOf(l), time.Duration(launches)
	if p.FirstPass(l) == nil {
		return t.begin + (n-1)*t.launch + n*t.measuring()
	}
	second := n * (t.launch + t.measuring())
	first := min(time.Duration(float64(second)*firstPassShare/(1-firstPassShare)), firstPassMost)
	return second + max(first, t.begin+t.measuring())
}

// LeastSecond is the least time of the second pass of a load, in which a verdict has the launches that it needs.
func (p *Plan) LeastSecond(l *Load) time.Duration {
	t := p.paceOf(l)
	return metric.LeastLaunches * (t.launch + t.measuring())
}
