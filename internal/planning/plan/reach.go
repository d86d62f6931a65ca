package plan

import (
	"cmp"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
)

// Noise is the noise of a host before a run: the standard deviation of the log ratio of two
// neighbouring windows of a length.
type Noise struct {
	SD     float64
	Window time.Duration
}

// Reach estimates the half-width, as a ratio, of a load's 95 % intervals in a run of so many seconds
// on a host with noise n. It assumes that launches differ by leastLaunchSD. The intervals hold together
// (Bonferroni) for all metrics that are judged, and for the question alone where there is one, else
// for all arms. +Inf: the time has no room for two blocks. NaN: the load's tool runs anew for each
// window, and its noise is not the host's.
func (p *Plan) Reach(l *Load, n Noise, seconds float64) float64 {
	if l.Stages.Windowed != nil {
		return math.NaN()
	}
	arms := len(l.Arms)
	window := max(n.Window, l.Shortest(), p.Window)
	discard := cmp.Or(p.Discard, max(usualSettle(window), l.Settle()))
	o := Observed{Launch: time.Duration(arms) * leastArm, Switch: assumedSwitch, Arms: arms}
	o.Budget = time.Duration(seconds*l.Budget/p.Record.Budget*float64(time.Second)) - leastLoad
	block := time.Duration(arms) * (window + discard + o.Switch)
	if o.Budget < o.Launch+2*block {
		return math.Inf(1)
	}
	cut, _ := Allocate(o, Lengths{Window: window, Discard: discard}, n.SD, Lengths{Generations: p.Generations})
	launches := float64(cut.Generations)
	variance := n.SD*n.SD/(launches*float64(cut.Blocks)) + 2*leastLaunchSD*leastLaunchSD/launches
	intervals := max(1, arms-2) // neither the baseline nor its twin has one
	if l.Workload.Question != "" {
		intervals = 1
	}
	intervals *= len(metric.Judged(l.Workload, true))
	return math.Expm1(stat.NormalQuantile(1-0.025/float64(intervals)) * math.Sqrt(variance))
}

// assumedSwitch is the time that a window takes beyond its length and its settle time, until a pilot
// has measured it.
const assumedSwitch = 10 * time.Millisecond

// TimeFor estimates, in steps of a tenth, how many seconds the run takes until Reach is at most half
// for every load of which it is known; +Inf: more than 30 days.
func (p *Plan) TimeFor(half float64, n Noise) float64 {
	const most = 30 * 24 * 3600
	for t := p.Least().Seconds(); t < most; t *= 1.1 {
		worst := 0.0
		for i := range p.Loads {
			if x := p.Reach(&p.Loads[i], n, t); !math.IsNaN(x) {
				worst = max(worst, x)
			}
		}
		if worst <= half {
			return t
		}
	}
	return math.Inf(1)
}
