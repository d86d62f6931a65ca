package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/wire/metric"
)

// Deciding returns the least budget in which every arm has the launches that a verdict needs
// (metric.LeastLaunches), each with its least time of measuring. A busy host needs more. False: the
// experiment fixes fewer launches.
func (p *Plan) Deciding() (time.Duration, bool) {
	if p.Generations > 0 && p.Generations < metric.LeastLaunches {
		return 0, false
	}
	most := 0.0
	for i := range p.Loads {
		l := &p.Loads[i]
		seconds := p.deciding(l).Seconds()
		if p.FirstPass(l) != nil { // the other arms are launched in the second pass alone
			seconds += min(seconds*firstPassShare/(1-firstPassShare), firstPassMost.Seconds())
		}
		most = max(most, seconds*p.Record.Budget/l.Budget)
	}
	return time.Duration(math.Ceil(most)) * time.Second, true
}

// deciding is the least time of a load with enough launches of all arms in one pass.
func (p *Plan) deciding(l *Load) time.Duration {
	window := cmp.Or(p.Window, max(usualWindow, l.Shortest()))
	o := Observed{Launch: time.Duration(len(l.Arms)) * leastArm, Switch: assumedSwitch, Arms: len(l.Arms)}
	least := o.minTime(Lengths{Window: window, Discard: cmp.Or(p.Discard, max(usualSettle(window), l.Settle()))})
	return leastLoad + time.Duration(max(p.Generations, metric.LeastLaunches))*(o.Launch+least)
}
