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
// on a host with noise n. It assumes that launches differ by stat.UsualLaunchSD. The intervals hold together
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
	variance := n.SD*n.SD/(launches*float64(cut.Blocks)) + 2*stat.UsualLaunchSD*stat.UsualLaunchSD/launches
	intervals := max(1, arms-2) // neither the baseline nor its twin has one
	if l.Workload.Question != "" {
		intervals = 1
	}
	intervals *= len(metric.Judged(l.Workload, true))
	return math.Expm1(stat.NormalQuantile(1-0.025/float64(intervals)) * math.Sqrt(variance))
}

// usualWindow is the length of the windows whose noise a look at the host tells, until a pilot chooses.
const usualWindow = 100 * time.Millisecond

// usualNoise is about what windows of loads have on small shared machines (docs/method.md).
const usualNoise = 0.1

// foreseen is the noise that a run will have, given what a look of two seconds saw: half of the way, on a
// logarithmic scale, to usualNoise. A host changes from look to look, and loads are noisier than plain
// work on a quiet host and steadier beside busy processes.
func foreseen(sd float64) Noise {
	return Noise{SD: math.Sqrt(sd * usualNoise), Window: usualWindow}
}

// Bracket is where the half-widths of a run's intervals are expected, as ratios.
type Bracket struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Expect returns the bracket of the half-widths of all loads for the whole budget, where sd is the standard
// deviation of the log ratio of neighbouring windows of plain work in a look of two seconds. Its ends are a half and twice the power of two (in
// percent) that is next to Reach: two seconds tell no more, and two looks at the same host give the same
// bracket or neighbours, whose ends differ by a factor of two. +Inf: loads have no interval. False: no
// load has an estimate.
func (p *Plan) Expect(sd float64) (Bracket, bool) {
	best, worst := math.Inf(1), math.Inf(-1)
	for i := range p.Loads {
		if half := p.Reach(&p.Loads[i], foreseen(sd), p.Record.Budget); !math.IsNaN(half) {
			best, worst = min(best, half), max(worst, half)
		}
	}
	return Bracket{nearestPower(best) / 2, 2 * nearestPower(worst)}, worst > 0
}

// nearestPower is the power of two, in percent, that is next to a half-width on a logarithmic scale.
func nearestPower(half float64) float64 {
	return math.Exp2(math.Round(math.Log2(100*half))) / 100
}

// assumedSwitch is the time that a window takes beyond its length and its settle time, until a pilot
// has measured it.
const assumedSwitch = 10 * time.Millisecond

// TimeFor estimates, in steps of a tenth, how many seconds the run takes until Reach is at most half
// for every load of which it is known; sd is that of Expect. +Inf: more than 30 days.
func (p *Plan) TimeFor(half, sd float64) float64 {
	const most = 30 * 24 * 3600
	n := foreseen(sd)
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
